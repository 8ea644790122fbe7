import { setTimeout as sleep } from "node:timers/promises";
import { Registry } from "../../metrics";
import { eventually } from "../../testing";
import { MAX_MESSAGE_BYTES, MessageRefusedError, type ReceivedMessage } from "../port";
import { type Conforms, keyOf, newName, series, seriesMessages, textMessage } from "./conformance";
import { arrived, collect } from "./consumers";

export function describeDelivery(conforms: Conforms): void {
  describe("delivery", () => {
    conforms("hands over what was published: key, bytes, headers and time", async ({ open, newTopic }) => {
      const topic = await newTopic();
      const bus = open();
      const consumer = await collect(bus, { group: newName("group"), topics: [topic] });
      const value = Buffer.from([0, 255, 10, 13, 128]);
      const headers = { type: "wallet_created", note: "지갑 👛 é\n\u0000", empty: "" };
      const startMs = Date.now();
      await bus.publish([{ topic, key: "키", value, headers }]);
      await bus.publish([{ topic, key: "", value: Buffer.alloc(0), headers: {} }]);
      await eventually(() => expect(consumer.received).toHaveLength(2));

      const [first, second] = consumer.received as [ReceivedMessage, ReceivedMessage];
      expect(first).toMatchObject({ topic, key: "키", headers, partition: 0 });
      expect(first.value.equals(value)).toBe(true);
      expect(Math.abs(first.timestampMs - startMs)).toBeLessThan(30_000);
      expect(second).toMatchObject({ topic, key: "", headers: {} });
      expect(second.value).toHaveLength(0);
      expect(BigInt(second.offset)).toBe(BigInt(first.offset) + 1n);
    });

    conforms(
      "keeps the order of each key, over many partitions and callers at once",
      async ({ open, newTopic }) => {
        const topic = await newTopic(6);
        const bus = open();
        const consumer = await collect(bus, { group: newName("group"), topics: [topic] });
        const keys = Array.from({ length: 20 }, (_, index) => `key${index}`);
        await Promise.all(
          keys.map(async (key) => {
            for (let from = 0; from < 50; from += 10) await bus.publish(seriesMessages(topic, key, 10, from));
          }),
        );
        await arrived(
          consumer,
          keys.flatMap((key) => series(key, 50)),
        );

        for (const key of keys) {
          const ofKey = consumer.received.filter((message) => message.key === key);
          expect(ofKey.map(({ value }) => value.toString())).toEqual(series(key, 50));
          expect(new Set(ofKey.map(({ partition }) => partition)).size).toBe(1);
        }
        expect(new Set(consumer.received.map(({ partition }) => partition)).size).toBe(6);
      },
    );

    conforms(
      "hands over batches no larger than asked for, each partition in order",
      async ({ open, newTopic }) => {
        const topic = await newTopic(3);
        const bus = open();
        const batches: ReceivedMessage[][] = [];
        const keys = ["a", "b", "c", "d", "e"];
        await bus.publish(keys.flatMap((key) => seriesMessages(topic, key, 40)));
        const handle = async (messages: ReceivedMessage[]) => void batches.push(messages);
        const consumer = await collect(bus, {
          group: newName("group"),
          topics: [topic],
          maxBatch: 7,
          handle,
        });
        await arrived(
          consumer,
          keys.flatMap((key) => series(key, 40)),
        );

        for (const batch of batches) {
          expect(batch.length).toBeLessThanOrEqual(7);
          for (const partition of [0, 1, 2]) {
            const offsets = batch
              .filter((message) => message.partition === partition)
              .map(({ offset }) => Number(offset));
            expect(offsets).toEqual(offsets.map((_, index) => offsets[0]! + index));
          }
        }
        expect(Math.max(...batches.map(({ length }) => length))).toBeGreaterThan(3);
      },
    );

    conforms("gives every group all messages, a late one from the beginning", async ({ open, newTopic }) => {
      const topic = await newTopic(2);
      const bus = open();
      const early = await collect(bus, { group: newName("group"), topics: [topic] });
      await bus.publish([...seriesMessages(topic, "a", 5), ...seriesMessages(topic, "b", 5)]);
      const all = [...series("a", 5), ...series("b", 5)];
      await arrived(early, all);
      const late = await collect(bus, { group: newName("group"), topics: [topic] });
      await arrived(late, all);
    });

    conforms("reads several topics in one group", async ({ open, newTopic }) => {
      const topics = [await newTopic(2), await newTopic(1)];
      const bus = open();
      const consumer = await collect(bus, { group: newName("group"), topics });
      await bus.publish(topics.flatMap((topic) => seriesMessages(topic, topic, 3)));
      await arrived(
        consumer,
        topics.flatMap((topic) => series(topic, 3)),
      );
      for (const { topic, value } of consumer.received) expect(keyOf(value.toString())).toBe(topic);
    });

    conforms(
      "refuses a message of 5 MB before it sends anything, and goes on",
      async ({ open, newTopic }) => {
        const topic = await newTopic();
        const bus = open();
        const consumer = await collect(bus, { group: newName("group"), topics: [topic] });
        const huge = { topic, key: "k", value: Buffer.alloc(5_000_000), headers: {} };
        await expect(bus.publish([textMessage(topic, "k", "beside it"), huge])).rejects.toThrow(
          MessageRefusedError,
        );
        await bus.publish([textMessage(topic, "k", "after")]);
        await arrived(consumer, ["after"]);
        expect(consumer.texts()).toEqual(["after"]);
      },
    );

    conforms(
      "takes messages up to the limit, also many large ones of one key at once",
      async ({ open, newTopic }) => {
        const topic = await newTopic();
        const bus = open();
        const consumer = await collect(bus, { group: newName("group"), topics: [topic] });
        const large = (fill: string, bytes: number) => ({
          topic,
          key: "k",
          value: Buffer.alloc(bytes, fill),
          headers: {},
        });
        await bus.publish([
          large("a", MAX_MESSAGE_BYTES - 1),
          ...Array.from({ length: 30 }, () => large("b", 100_000)),
          large("c", MAX_MESSAGE_BYTES - 1),
        ]);
        await eventually(() => expect(consumer.received).toHaveLength(32), { timeoutMs: 30_000 });
        expect(consumer.received.map(({ value }) => String.fromCharCode(value[0]!)).join("")).toBe(
          `a${"b".repeat(30)}c`,
        );
      },
    );

    conforms("makes topics once, and leaves an existing one as it is", async ({ open }) => {
      const bus = open();
      const [name, other] = [newName("topic.a"), newName("topic.b")];
      await Promise.all([open(), open(), bus].map((each) => each.ensureTopics([{ name, partitions: 3 }])));
      await bus.ensureTopics([
        { name, partitions: 5 },
        { name: other, partitions: 2 },
      ]);
      expect(await bus.lag("nobody", [name, other])).toEqual([
        ...[0, 1, 2].map((partition) => ({ topic: name, partition, messages: 0, oldestAgeMs: 0 })),
        ...[0, 1].map((partition) => ({ topic: other, partition, messages: 0, oldestAgeMs: 0 })),
      ]);
    });

    conforms(
      "refuses to publish to a topic that does not exist, and still publishes to others",
      async ({ open, newTopic }) => {
        const topic = await newTopic();
        const bus = open();
        await expect(bus.publish([textMessage(newName("topic"), "k", "lost")])).rejects.toThrow();
        await bus.publish([textMessage(topic, "k", "kept")]);
        const consumer = await collect(bus, { group: newName("group"), topics: [topic] });
        await arrived(consumer, ["kept"]);
      },
    );

    conforms("waits for a topic that its publisher has yet to make", async ({ open }) => {
      const bus = open();
      const name = newName("topic");
      const subscribed = collect(bus, { group: newName("group"), topics: [name] });
      await sleep(300);
      const publisher = open();
      await publisher.ensureTopics([{ name, partitions: 1 }]);
      await publisher.publish([textMessage(name, "k", "at last")]);
      await arrived(await subscribed, ["at last"]);
    });

    conforms("tells the lag of a group in messages and in time", async ({ open, newTopic }) => {
      const topic = await newTopic();
      const group = newName("group");
      const bus = open();
      await bus.publish(seriesMessages(topic, "k", 4));
      const publishedMs = Date.now();
      await sleep(1_500);
      await bus.publish(seriesMessages(topic, "k", 2, 4));
      const [before] = await bus.lag(group, [topic]);
      expect(before).toMatchObject({ topic, partition: 0, messages: 6 });
      expect(before!.oldestAgeMs).toBeGreaterThan(1_200);
      expect(before!.oldestAgeMs).toBeLessThan(60_000);

      const stopAt = async (messages: ReceivedMessage[]) => {
        if (messages.some(({ value }) => value.toString() === "k-4")) throw new Error("not yet");
      };
      const partial = await collect(bus, { group, topics: [topic], maxBatch: 1, handle: stopAt });
      await arrived(partial, series("k", 4));
      await eventually(async () => expect((await bus.lag(group, [topic]))[0]!.messages).toBe(2));
      // The first four are done, and what is left came as much later as was slept.
      const [left] = await bus.lag(group, [topic]);
      expect(left!.oldestAgeMs).toBeLessThan(Date.now() - publishedMs - 1_400);
      await partial.subscription.close();

      const rest = await collect(bus, { group, topics: [topic] });
      await arrived(rest, series("k", 2, 4));
      await eventually(async () =>
        expect((await bus.lag(group, [topic]))[0]).toMatchObject({ messages: 0, oldestAgeMs: 0 }),
      );
    });

    conforms("counts what it does", async ({ open, newTopic }) => {
      const topic = await newTopic();
      const registry = new Registry();
      const bus = open({ registry });
      const group = newName("group");
      const consumer = await collect(bus, { group, topics: [topic] });
      await bus.publish(seriesMessages(topic, "k", 3));
      await arrived(consumer, series("k", 3));
      const text = await registry.metrics();
      expect(text).toContain(`bus_published_total{topic="${topic}"} 3`);
      expect(text).toMatch(/bus_publish_seconds_count 1\b/);
      expect(text).toMatch(new RegExp(`bus_rebalances_total\\{group="${group}"\\} [1-9]`));
    });

    conforms("answers a ping", async ({ open, target }) => {
      await open().ping();
      expect(open().kind).toBe(target.place.kind);
    });
  });
}
