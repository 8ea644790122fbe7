import { type Database, sql } from "../../db";
import { createTestDatabase, openTestDatabase, type TestDatabase } from "../../testing";
import { installPostgresBus } from "../postgres";
import { textMessage } from "../testing/conformance";
import * as store from "./store";

const TOPIC = "wonrail.sample.v1";
let database: TestDatabase;
let db: Database;
let partitionId: number;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "bus_user" });
  await installPostgresBus(database.adminUrl, ["wonrail_bus_user"]);
  db = openTestDatabase(database.adminUrl, "bus");
  await store.insertTopics(db, [{ name: TOPIC, partitions: 1 }]);
  await store.appendMessages(
    db,
    ["a", "b", "c"].map((text) => textMessage(TOPIC, "key", text)),
  );
  partitionId = (await db.one<{ id: number }>(sql`select id from partitions`)).id;
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

test("who has lost a partition neither reads it nor moves its cursor, also when it has come back to him since", async () => {
  const group = "sample";
  const live = (member: string, leaseMs: number) =>
    store.upsertMember(db, { group, member, topics: [TOPIC], leaseMs });
  const claim = (member: string) => store.claimPartitions(db, group, member, [partitionId]);
  const owned = (member: string, epoch: bigint, position: bigint) => [
    { group, member, partitionId, epoch, position },
  ];
  const read = async (...of: Parameters<typeof owned>) =>
    (await store.readMessages(db, owned(...of), 10)).get(partitionId)?.messages.length;
  const move = async (...of: Parameters<typeof owned>) => (await store.moveCursors(db, owned(...of))).size;

  await live("one", 60_000);
  expect(await claim("one")).toMatchObject([{ epoch: 1n, position: 0n }]);
  await live("other", 60_000);
  expect(await claim("other")).toEqual([]);
  expect([await read("one", 1n, 0n), await move("one", 1n, 1n)]).toEqual([3, 1]);

  await live("one", -1_000);
  expect(await claim("other")).toMatchObject([{ epoch: 2n, position: 1n }]);
  expect([await read("one", 1n, 1n), await move("one", 1n, 3n)]).toEqual([undefined, 0]);
  expect([await read("one", 2n, 1n), await move("one", 2n, 3n)]).toEqual([undefined, 0]);
  expect([await read("other", 2n, 1n), await move("other", 2n, 2n)]).toEqual([2, 1]);

  await store.releasePartition(db, group, "one", partitionId);
  await live("one", 60_000);
  expect(await claim("one")).toEqual([]);
  await store.releasePartition(db, group, "other", partitionId);
  expect(await claim("one")).toMatchObject([{ epoch: 3n, position: 2n }]);
  expect([await read("one", 1n, 0n), await move("one", 1n, 1n)]).toEqual([undefined, 0]);
  expect(await store.listPartitions(db, group, [TOPIC])).toMatchObject([{ owner: "one", position: 2n }]);
});

test("who said that he lives before the clock was set back lives no longer than anybody, and is forgotten", async () => {
  const group = "set back";
  const live = (member: string, leaseMs: number) =>
    store.upsertMember(db, { group, member, topics: [TOPIC], leaseMs });
  const members = async () => (await store.listMembers(db, group)).map(({ id }) => id);
  await live("dead", 10_000);
  expect(await store.claimPartitions(db, group, "dead", [partitionId])).toHaveLength(1);
  await live("other", 10_000);
  expect(await members()).toEqual(["dead", "other"]);
  await db.run(
    sql`update members set alive_until = alive_until + interval '1 hour' where group_name = ${group}`,
  );
  await live("other", 10_000);
  expect(await members()).toEqual(["other"]);
  expect(await store.claimPartitions(db, group, "other", [partitionId])).toMatchObject([{ epoch: 2n }]);
  const rows = await db.query(sql`select member_id from members where group_name = ${group}`);
  expect(rows).toEqual([{ member_id: "other" }]);
});
