import { sql } from "@wonrail/kit/db";
import { idToUuid, newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { sparse, uuids } from "./arrays";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ schema: "ledger" });
});
afterAll(() => database.drop());

test("ids keep their bytes", async () => {
  const ids = [newId("wal"), newId("trf")];
  const row = await database.db.one(sql`
    select ${uuids(ids)}::uuid[]::text[] as ids, cardinality(${uuids([])}::uuid[]) as none`);
  expect(row).toEqual({ ids: ids.map(idToUuid), none: 0 });
});

test("an array of nulls is omitted, and unnest pads it", async () => {
  const rows = await database.db.query(sql`
    select * from unnest(${[1, 2]}::integer[], ${sparse([null, null])}::text[], ${sparse([null, "b"])}::text[]) as r (a, b, c)`);
  expect(rows).toEqual([
    { a: 1, b: null, c: null },
    { a: 2, b: null, c: "b" },
  ]);
});
