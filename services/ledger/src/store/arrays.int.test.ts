import { sql } from "@wonrail/kit/db";
import { idToUuid, newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { emptyWhenAllNull, uuidArray } from "./arrays";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ schema: "ledger" });
});
afterAll(() => database.drop());

test("ids keep their bytes", async () => {
  const ids = [newId("wal"), newId("trf")];
  const row = await database.db.one(sql`
    select ${uuidArray(ids)}::uuid[]::text[] as ids, cardinality(${uuidArray([])}::uuid[]) as none`);
  expect(row).toEqual({ ids: ids.map(idToUuid), none: 0 });
});

test("an array of nulls is omitted, and unnest pads it", async () => {
  const rows = await database.db.query(sql`
    select * from unnest(${[1, 2]}::integer[], ${emptyWhenAllNull([null, null])}::text[],
      ${emptyWhenAllNull([null, "b"])}::text[]) as r (a, b, c)`);
  expect(rows).toEqual([
    { a: 1, b: null, c: null },
    { a: 2, b: null, c: "b" },
  ]);
});
