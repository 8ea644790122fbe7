import { type Database, sql } from "../../db";
import { createTestDatabase, openTestDatabase, type TestDatabase } from "../../testing";
import { installPostgresBus } from "../postgres";
import type { BusMessage } from "../port";
import { textMessage } from "../testing/conformance";
import { rowsOf } from "./packing";
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
  await append(["a", "b", "c"].map((text) => textMessage(TOPIC, "key", text)));
  partitionId = await partitionOf(TOPIC);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

async function append(messages: BusMessage[]): Promise<void> {
  const forms = await store.findTopicForms(db, [...new Set(messages.map(({ topic }) => topic))]);
  await store.appendRows(db, rowsOf(messages, forms));
}

async function partitionOf(topic: string): Promise<number> {
  return (await db.one<{ id: number }>(sql`select id from partitions where topic = ${topic}`)).id;
}

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

describe("many messages in a row", () => {
  const member = "reader";
  const texts = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);

  /** Reads to the end, so many at once, and gives what was read each time. */
  async function readAll(topic: string, limit: number): Promise<string[][]> {
    const group = `by ${limit}`;
    const id = await partitionOf(topic);
    await store.upsertMember(db, { group, member, topics: [topic], leaseMs: 60_000 });
    const { position, epoch } = (await store.claimPartitions(db, group, member, [id]))[0]!;
    const reads: string[][] = [];
    for (let at = position, more = true; more;) {
      const of = { group, member, partitionId: id, epoch };
      const { messages, mayHaveMore } = (await store.readMessages(db, [{ ...of, position: at }], limit)).get(
        id,
      )!;
      expect(messages.map((one) => one.position)).toEqual(messages.map((_, index) => at + BigInt(index)));
      reads.push(messages.map(({ value }) => value.toString()));
      at += BigInt(messages.length);
      await store.moveCursors(db, [{ ...of, position: at }]);
      const [lag] = await store.readLag(db, group, [topic]);
      expect(lag!.messages).toBe((await end(topic)) - Number(at));
      more = mayHaveMore;
    }
    return reads;
  }

  async function end(topic: string): Promise<number> {
    const { next } = await db.one<{ next: bigint }>(
      sql`select next_position as next from partitions where topic = ${topic}`,
    );
    return Number(next);
  }

  async function rowsOfTopic(topic: string): Promise<{ position: bigint; messages: number }[]> {
    return db.query(sql`
      select position, messages from messages where partition_id = ${await partitionOf(topic)} order by position`);
  }

  test.each([1, 7, 25, 33, 1_000])("are read %s at once, each of them once and in order", async (limit) => {
    const topic = `wonrail.by${limit}.v1`;
    await store.insertTopics(db, [{ name: topic, partitions: 1 }]);
    await append(texts(60).map((text) => textMessage(topic, `key ${text}`, text)));
    await append([textMessage(topic, "one", "60")]);
    expect((await rowsOfTopic(topic)).map(({ messages }) => messages)).toEqual([25, 25, 10, 1]);
    const reads = await readAll(topic, limit);
    expect(reads.flat()).toEqual(texts(61));
    expect(reads.every((read) => read.length <= limit)).toBe(true);
    expect(reads.filter((read) => read.length < Math.min(limit, 25)).length).toBeLessThanOrEqual(4);
  });

  test("are those of new topics only, and of those that an operator has said it of, in one order with what was there", async () => {
    const topic = "wonrail.old.v1";
    await store.insertTopics(db, [{ name: topic, partitions: 1 }]);
    await db.run(sql`update topics set packed = false where name = ${topic}`);
    const [first, second, third] = [texts(3), texts(6).slice(3), texts(9).slice(6)];
    const publish = (those: string[]) => append(those.map((text) => textMessage(topic, "key", text)));
    await publish(first);
    expect((await rowsOfTopic(topic)).map(({ messages }) => messages)).toEqual([1, 1, 1]);
    await db.run(sql`update topics set packed = true where name = ${topic}`);
    await publish(second);
    await db.run(sql`update topics set packed = false where name = ${topic}`);
    await publish(third);
    expect((await rowsOfTopic(topic)).map(({ messages }) => messages)).toEqual([1, 1, 1, 3, 1, 1, 1]);
    for (const limit of [1, 2, 5, 100]) expect((await readAll(topic, limit)).flat()).toEqual(texts(9));
  });

  test("of which the oldest is dropped are gone together, and nothing else is", async () => {
    const topic = "wonrail.dropped.v1";
    await store.insertTopics(db, [{ name: topic, partitions: 1 }]);
    await append(texts(5).map((text) => textMessage(topic, "key", text)));
    await append(
      texts(7)
        .slice(5)
        .map((text) => textMessage(topic, "key", text)),
    );
    await db.run(sql`
      update messages set stored_at = now() - interval '8 days' where partition_id = ${await partitionOf(topic)} and position = 0`);
    expect(await store.deleteExpired(db, 7 * 24 * 3_600_000)).toBe(1);
    expect((await readAll(topic, 10)).flat()).toEqual(["5", "6"]);
  });
});
