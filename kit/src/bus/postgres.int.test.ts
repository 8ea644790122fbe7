import { setTimeout as sleep } from "node:timers/promises";
import { type Database, sql } from "../db";
import { Registry } from "../metrics";
import { createTestDatabase, eventually, openTestDatabase, type TestDatabase, testLog } from "../testing";
import type { ReceivedMessage } from "./port";
import { installPostgresBus, openPostgresBus } from "./postgres";
import { keyHash } from "./postgres/keyHash";
import { rowsOf } from "./postgres/packing";
import { appendRows, deleteExpired, findTopicForms } from "./postgres/store";
import { busConformance, newName, seriesMessages, textMessage } from "./testing/conformance";
import { arrived, collect } from "./testing/consumers";
import { openUnderTest } from "./testing/underTest";

const ROLE = "wonrail_bus_user";

busConformance("Postgres", async () => {
  const database = await createTestDatabase({ schema: "bus_user" });
  await installPostgresBus(database.adminUrl, [ROLE]);
  const admin = openTestDatabase(database.adminUrl, "bus");
  return {
    place: { kind: "postgres", url: database.url },
    async deleteTopic(topic) {
      await admin.run(sql`delete from topics where name = ${topic}`);
    },
    async forgetGroup(group) {
      await admin.run(sql`delete from cursors where group_name = ${group}`);
    },
    async close() {
      await admin.close();
      await database.drop();
    },
  };
});

describe("what is special about Postgres", () => {
  let database: TestDatabase;
  let admin: Database;
  let open: () => ReturnType<typeof openUnderTest>;
  const opened: ReturnType<typeof openUnderTest>[] = [];

  beforeAll(async () => {
    database = await createTestDatabase({ schema: "bus_user" });
    await Promise.all([1, 2, 3].map(() => installPostgresBus(database.adminUrl, [ROLE])));
    admin = openTestDatabase(database.adminUrl, "bus");
    open = () => {
      const bus = openUnderTest({ kind: "postgres", url: database.url });
      opened.push(bus);
      return bus;
    };
  });
  afterAll(async () => {
    await Promise.all(opened.map((bus) => bus.close()));
    await admin?.close();
    await database?.drop();
  });

  it("numbers the messages of many publishers without a gap, and shows them in their order", async () => {
    const topic = newName("topic");
    const reader = open();
    await reader.ensureTopics([{ name: topic, partitions: 3 }]);
    const consumer = await collect(reader, { group: newName("group"), topics: [topic] });
    const keys = Array.from({ length: 12 }, (_, index) => `key${index}`);
    await Promise.all(
      [0, 1, 2, 3, 4, 5].map(async (writer) => {
        const bus = open();
        for (let round = 0; round < 40; round += 1) {
          // Each in another order of keys, which would be a deadlock if partitions were locked as they come.
          const turned = keys.map((_, index) => keys[(index * (writer + 1) * 5 + round) % keys.length]!);
          await bus.publish(turned.map((key) => textMessage(topic, key, `${writer}/${round}`)));
        }
      }),
    );
    await eventually(() => expect(consumer.received).toHaveLength(6 * 40 * 12), { timeoutMs: 60_000 });

    for (const partition of [0, 1, 2]) {
      const offsets = consumer.received
        .filter((message) => message.partition === partition)
        .map(({ offset }) => Number(offset));
      expect(offsets).toEqual(offsets.map((_, index) => index));
    }
    for (const key of keys) {
      for (const writer of [0, 1, 2, 3, 4, 5]) {
        const texts = consumer.received
          .filter((message) => message.key === key)
          .map(({ value }) => value.toString());
        const rounds = texts
          .filter((text) => text.startsWith(`${writer}/`))
          .map((text) => Number(text.slice(2)));
        expect(rounds).toEqual(rounds.toSorted((a, b) => a - b));
      }
    }
  }, 120_000);

  it("finds messages whose announcement nobody heard", async () => {
    const topic = newName("topic");
    const bus = open();
    await bus.ensureTopics([{ name: topic, partitions: 1 }]);
    const consumer = await collect(bus, { group: newName("group"), topics: [topic] });
    await admin.run(sql`update partitions set next_position = 1 where topic = ${topic}`);
    await admin.run(sql`
      insert into messages (partition_id, position, key, value, headers, stored_at)
      select id, 0, 'k', 'unannounced', '{}', now() from partitions where topic = ${topic}`);
    await arrived(consumer, ["unannounced"]);
  });

  it("gives back a partition that is its own by the table only, as after a release that failed halfway", async () => {
    const [topic, group] = [newName("topic"), newName("group")];
    const bus = open();
    await bus.ensureTopics([{ name: topic, partitions: 2 }]);
    const consumers = [
      await collect(bus, { group, topics: [topic] }),
      await collect(open(), { group, topics: [topic] }),
    ];
    const owners = () =>
      admin.query<{ owner: string }>(sql`select distinct owner from cursors where group_name = ${group}`);
    await eventually(async () => expect(await owners()).toHaveLength(2), { timeoutMs: 30_000 });
    await admin.run(sql`
      update cursors set epoch = epoch + 1, owner = (select min(owner) from cursors where group_name = ${group})
      where group_name = ${group}`);
    await eventually(async () => expect(await owners()).toHaveLength(2), { timeoutMs: 30_000 });
    const texts = ["a", "b", "c", "d", "e", "f"];
    await bus.publish(texts.map((text) => textMessage(topic, text, text)));
    await eventually(
      () => expect(consumers.flatMap((consumer) => consumer.texts()).toSorted()).toEqual(texts),
      { timeoutMs: 30_000 },
    );
  }, 120_000);

  it("tries the partitions of a batch that failed alone, at once: only the one to blame waits, and none is done twice", async () => {
    const [topic, group] = [newName("topic"), newName("group")];
    const bus = open();
    await bus.ensureTopics([{ name: topic, partitions: 6 }]);
    const keys = ["a", "b", "c", "f", "g", "n"];
    expect(new Set(keys.map((key) => keyHash(key) % 6)).size).toBe(6);
    let isMended = false;
    const tried: string[][] = [];
    const done: string[] = [];
    const handleBatch = async (messages: ReceivedMessage[]): Promise<void> => {
      const texts = messages.map(({ value }) => value.toString());
      tried.push(texts);
      if (texts.includes("c") && !isMended) throw new Error("no");
      done.push(...texts);
    };
    const subscription = await bus.subscribe({ group, topics: [topic], handleBatch });
    await bus.publish(keys.map((key) => textMessage(topic, key, key)));
    await eventually(() => expect(tried.length).toBeGreaterThan(9));
    expect(tried[0]).toHaveLength(6);
    // Whoever rests comes back when chance has it.
    expect(tried.slice(1, 7)).toEqual(tried[0]!.map((text) => [text]));
    expect(new Set(tried.slice(7).flat())).toEqual(new Set(["c"]));
    isMended = true;
    await eventually(() => expect(done).toHaveLength(6));
    await subscription.close();
    expect(done.toSorted()).toEqual(keys);
  });

  it("lets a role publish and consume, and not change the tables", async () => {
    const role = openTestDatabase(database.url, "bus");
    await expect(role.run(sql`drop table messages`)).rejects.toThrow("must be owner");
    await expect(role.run(sql`create table bus.mine (id int)`)).rejects.toThrow("permission denied");
    await role.close();
  });

  it("drops what is past its time, oldest first, and its readers go on behind it", async () => {
    const topic = newName("topic");
    const bus = open();
    await bus.ensureTopics([{ name: topic, partitions: 1 }]);
    // Each in a row of its own.
    for (const message of seriesMessages(topic, "k", 5)) await bus.publish([message]);
    await admin.run(sql`
      update messages set stored_at = now() - interval '8 days'
      where position < 3 and partition_id = (select id from partitions where topic = ${topic})`);
    expect(await deleteExpired(admin, 7 * 24 * 3_600_000)).toBe(3);
    expect(await deleteExpired(admin, 7 * 24 * 3_600_000)).toBe(0);
    expect((await bus.lag("nobody", [topic]))[0]!.messages).toBe(2);
    const consumer = await collect(bus, { group: newName("group"), topics: [topic] });
    await arrived(consumer, ["k-3", "k-4"]);
    expect(consumer.texts()).toEqual(["k-3", "k-4"]);
  });

  it("counts what a group did not come to in time, and not what was dropped before there was the group", async () => {
    const [topic, group] = [newName("topic"), newName("group")];
    const registry = new Registry();
    const bus = openUnderTest({ kind: "postgres", url: database.url }, { registry });
    opened.push(bus);
    const dropAll = async () => {
      await admin.run(sql`
        update messages set stored_at = now() - interval '8 days'
        where partition_id = (select id from partitions where topic = ${topic})`);
      await deleteExpired(admin, 7 * 24 * 3_600_000);
    };
    const told = async () => (await registry.metrics()).match(/^bus_dropped_unread_total\{.*$/gm) ?? [];

    await bus.ensureTopics([{ name: topic, partitions: 1 }]);
    await bus.publish(seriesMessages(topic, "k", 3));
    await dropAll();
    const first = await collect(bus, { group, topics: [topic] });
    await bus.publish(seriesMessages(topic, "k", 1, 3));
    await arrived(first, ["k-3"]);
    await first.subscription.close();
    expect(await told()).toEqual([`bus_dropped_unread_total{group="${group}",topic="${topic}"} 0`]);

    await bus.publish(seriesMessages(topic, "k", 2, 4));
    await dropAll();
    await bus.publish(seriesMessages(topic, "k", 1, 6));
    const second = await collect(bus, { group, topics: [topic] });
    await arrived(second, ["k-6"]);
    await eventually(async () =>
      expect(await told()).toEqual([`bus_dropped_unread_total{group="${group}",topic="${topic}"} 2`]),
    );
    await second.subscription.close();
  });

  it("deletes by itself", async () => {
    const topic = newName("topic");
    const options = { kind: "postgres" as const, url: database.url, clientId: "janitor", log: testLog() };
    const bus = openPostgresBus(options, { retentionMs: 200, retentionEveryMs: 100 });
    opened.push(bus);
    await bus.ensureTopics([{ name: topic, partitions: 2 }]);
    await bus.publish(seriesMessages(topic, "k", 5));
    await eventually(async () =>
      expect((await bus.lag("nobody", [topic])).map(({ messages }) => messages)).toEqual([0, 0]),
    );
  });

  it("publishes to a topic that was made again with other partitions", async () => {
    const topic = newName("topic");
    const bus = open();
    await bus.ensureTopics([{ name: topic, partitions: 6 }]);
    const keys = ["a", "b", "c", "f", "g", "n"];
    await bus.publish(keys.map((key) => textMessage(topic, key, key)));
    await admin.run(sql`delete from topics where name = ${topic}`);
    await expect(bus.publish([textMessage(topic, "a", "a")])).rejects.toThrow(`There is no topic ${topic}`);
    await bus.ensureTopics([{ name: topic, partitions: 1 }]);
    await bus.publish(keys.map((key) => textMessage(topic, key, key)));
    expect((await bus.lag("nobody", [topic])).map(({ messages }) => messages)).toEqual([6]);
  });

  it("stores nothing of a request with one message that has no topic", async () => {
    const topic = newName("topic");
    const bus = open();
    await bus.ensureTopics([{ name: topic, partitions: 1 }]);
    const stray = textMessage(newName("nowhere"), "k", "lost");
    const forms = await findTopicForms(admin, [topic]);
    await expect(
      appendRows(admin, rowsOf([textMessage(topic, "k", "kept?"), stray], forms)),
    ).rejects.toThrow();
    await expect(bus.publish([stray])).rejects.toThrow(`There is no topic ${stray.topic}`);
    await sleep(50);
    expect((await bus.lag("nobody", [topic]))[0]!.messages).toBe(0);
  });
});
