import { sql } from "@wonrail/kit/db";
import { idToUuid, newId } from "@wonrail/kit/ids";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { bigints, integers, smallints, sparse, uuids } from "./arrays";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ schema: "ledger" });
});
afterAll(() => database.drop());

test("arrays arrive as they were sent, at the ends of what their types hold too", async () => {
  const ids = [newId("wal"), newId("trf")];
  const big = [-(2n ** 63n), -1n, 0n, 2n ** 63n - 1n];
  const row = await database.db.one(sql`
    select ${bigints(big)}::bigint[] as big, ${integers([-(2 ** 31), 2 ** 31 - 1])}::integer[] as whole,
      ${smallints([-32_768, 32_767])}::smallint[] as small, ${uuids(ids)}::uuid[]::text[] as ids,
      cardinality(${bigints([])}::bigint[]) as none`);
  expect(row).toEqual({
    big,
    whole: [-(2 ** 31), 2 ** 31 - 1],
    small: [-32_768, 32_767],
    ids: ids.map(idToUuid),
    none: 0,
  });
});

test("an array of nothing but nulls is left out, and unnest fills it up", async () => {
  const rows = await database.db.query(sql`
    select * from unnest(${integers([1, 2])}::integer[], ${sparse([null, null])}::text[], ${sparse([null, "b"])}::text[]) as r (a, b, c)`);
  expect(rows).toEqual([
    { a: 1, b: null, c: null },
    { a: 2, b: null, c: "b" },
  ]);
});
