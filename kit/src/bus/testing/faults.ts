import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../../testing";
import type { Bus, ReceivedMessage } from "../port";
import { type Conforms, newName, series, seriesMessages, textMessage } from "./conformance";
import { arrived, collect, firstOccurrences, keepCollecting } from "./consumers";

const OUTAGE_MS = 4_000;
/** Long enough for a consumer to see that a topic is gone. */
const AWAY_MS = 3_000;

export function describeFaults(conforms: Conforms): void {
  describe("faults", () => {
    conforms(
      "gives messages again to a handler that fails, and the other partitions do not wait",
      async ({ open, newTopic }) => {
        const topic = await newTopic(4);
        const bus = open();
        let failing = true;
        let attempts = 0;
        const handle = async (messages: ReceivedMessage[]) => {
          if (!failing || !messages.some(({ key }) => key === "poison")) return;
          attempts += 1;
          // The kind of error that a mistake in a handler makes; kafkajs never comes back from one.
          throw new TypeError("cannot read properties of undefined");
        };
        let crashed: Error | undefined;
        const onCrash = (error: Error) => (crashed = error);
        await bus.publish(seriesMessages(topic, "poison", 3));
        const consumer = await collect(bus, { group: newName("group"), topics: [topic], handle, onCrash });
        await eventually(() => expect(attempts).toBeGreaterThan(2));

        const keys = Array.from({ length: 30 }, (_, index) => `key${index}`);
        await bus.publish(keys.flatMap((key) => seriesMessages(topic, key, 10)));
        const free = await freeKeys(bus, topic, keys);
        await arrived(
          consumer,
          free.flatMap((key) => series(key, 10)),
        );
        expect(consumer.received.some(({ key }) => key === "poison")).toBe(false);
        expect(consumer.subscription.live()).toBe(true);

        failing = false;
        await arrived(consumer, series("poison", 3), 30_000);
        expect(firstOccurrences(consumer.received.filter(({ key }) => key === "poison"))).toEqual(
          series("poison", 3),
        );
        expect(crashed).toBeUndefined();
      },
    );

    conforms(
      "survives a server that is away, for publishers and consumers",
      async ({ open, newTopic, startProxy }) => {
        const proxy = await startProxy();
        const topic = await newTopic(3);
        const bus = open({ proxy });
        const consumer = await collect(bus, { group: newName("group"), topics: [topic] });
        const publishing = publishUntil(bus, topic);
        await eventually(() => expect(consumer.received.length).toBeGreaterThan(5));

        proxy.setMode({ kind: "reset" });
        await expect(bus.ping()).rejects.toThrow();
        await sleep(OUTAGE_MS);
        expect(consumer.subscription.live()).toBe(true);
        proxy.setMode({ kind: "pass" });
        const before = publishing.acknowledged.length;
        await eventually(() => expect(publishing.acknowledged.length).toBeGreaterThan(before + 20), {
          timeoutMs: 40_000,
        });
        await publishing.stop();
        await arrived(consumer, publishing.acknowledged, 40_000);
        expect(firstOccurrences(consumer.received)).toEqual(publishing.acknowledged);
        await bus.ping();
      },
    );

    conforms(
      "survives connections that end in the middle of an answer",
      async ({ open, newTopic, startProxy }) => {
        const proxy = await startProxy();
        const topic = await newTopic(3);
        const bus = open({ proxy });
        const consumer = await collect(bus, { group: newName("group"), topics: [topic] });
        const publishing = publishUntil(bus, topic);
        for (let round = 0; round < 5; round += 1) {
          const before = consumer.received.length;
          await eventually(() => expect(consumer.received.length).toBeGreaterThan(before + 5), {
            timeoutMs: 40_000,
          });
          proxy.setMode({ kind: "cutAnswers" });
          await sleep(50);
          proxy.setMode({ kind: "pass" });
        }
        await publishing.stop();
        await arrived(consumer, publishing.acknowledged, 40_000);
        expect(firstOccurrences(consumer.received)).toEqual(publishing.acknowledged);
      },
    );

    conforms(
      "survives connections that went silent and look open",
      async ({ open, newTopic, startProxy }) => {
        const proxy = await startProxy();
        const topic = await newTopic(3);
        const bus = open({ proxy });
        const consumer = await collect(bus, { group: newName("group"), topics: [topic] });
        const publishing = publishUntil(bus, topic);
        await eventually(() => expect(consumer.received.length).toBeGreaterThan(5));
        proxy.setMode({ kind: "halfOpen" });
        const before = publishing.acknowledged.length;
        await eventually(() => expect(publishing.acknowledged.length).toBeGreaterThan(before + 20), {
          timeoutMs: 40_000,
        });
        await publishing.stop();
        await arrived(consumer, publishing.acknowledged, 40_000);
        expect(firstOccurrences(consumer.received)).toEqual(publishing.acknowledged);
      },
    );

    conforms(
      "loses nothing that it acknowledged when answers to publishing get lost",
      async ({ open, newTopic, startProxy }) => {
        const proxy = await startProxy();
        const topic = await newTopic(2);
        const bus = open({ proxy });
        const direct = open();
        const consumer = await collect(direct, { group: newName("group"), topics: [topic] });
        const publishing = publishUntil(bus, topic);
        for (let round = 0; round < 2; round += 1) {
          const before = publishing.acknowledged.length;
          await eventually(() => expect(publishing.acknowledged.length).toBeGreaterThan(before + 10), {
            timeoutMs: 40_000,
          });
          proxy.setMode({ kind: "dropResponses" });
          await sleep(700);
          proxy.setMode({ kind: "pass" });
        }
        await publishing.stop();
        await arrived(consumer, publishing.acknowledged, 40_000);
        expect(firstOccurrences(consumer.received)).toEqual(publishing.acknowledged);
      },
    );

    conforms(
      "starts at the beginning when the group's positions are lost",
      async ({ open, newTopic, target }) => {
        const topic = await newTopic(2);
        const group = newName("group");
        const bus = open();
        const before = await collect(bus, { group, topics: [topic] });
        await bus.publish(seriesMessages(topic, "k", 5));
        await arrived(before, series("k", 5));
        await before.subscription.close();
        await target.forgetGroup(group);
        const after = await collect(bus, { group, topics: [topic] });
        await arrived(after, series("k", 5));
      },
    );

    conforms("reads a topic that was made anew from its beginning", async ({ open, newTopic, target }) => {
      const topic = await newTopic(2);
      const bus = open();
      const old = await keepCollecting(bus, { group: newName("group"), topics: [topic] });
      await bus.publish(seriesMessages(topic, "old", 10));
      await arrived(old, series("old", 10));
      await target.deleteTopic(topic);
      await eventually(() => open().ensureTopics([{ name: topic, partitions: 2 }]), { timeoutMs: 10_000 });
      await eventually(() => bus.publish(seriesMessages(topic, "new", 3)), { timeoutMs: 40_000 });
      await arrived(old, series("new", 3), 30_000);
    });

    conforms(
      "reads one that was away for a while from its beginning, also when it holds more than was read before",
      async ({ open, newTopic, target }) => {
        const topic = await newTopic(1);
        const bus = open();
        const consumer = await keepCollecting(bus, { group: newName("group"), topics: [topic] });
        await bus.publish(seriesMessages(topic, "old", 10));
        await arrived(consumer, series("old", 10));
        await target.deleteTopic(topic);
        await sleep(AWAY_MS);
        await open().ensureTopics([{ name: topic, partitions: 1 }]);
        await eventually(() => bus.publish(seriesMessages(topic, "new", 50)), { timeoutMs: 40_000 });
        await arrived(consumer, series("new", 50));
      },
    );
  });
}

/** The keys that are not in the partition of the key "poison". */
async function freeKeys(bus: Bus, topic: string, keys: string[]): Promise<string[]> {
  const scout = await collect(bus, { group: newName("group"), topics: [topic] });
  await arrived(scout, [...series("poison", 3), ...keys.flatMap((key) => series(key, 10))]);
  await scout.subscription.close();
  const partitions = new Map(scout.received.map(({ key, partition }) => [key, partition]));
  return keys.filter((key) => partitions.get(key) !== partitions.get("poison"));
}

interface Publishing {
  /** In the order in which they were published. */
  acknowledged: string[];
  stop(): Promise<void>;
}

/** As the outbox relay does: one after the other, each again until it is acknowledged. */
function publishUntil(bus: Bus, topic: string): Publishing {
  const acknowledged: string[] = [];
  let stopped = false;
  const run = async (): Promise<void> => {
    for (let next = 0; !stopped; next += 1) {
      const text = `k-${next}`;
      await eventually(() => bus.publish([textMessage(topic, "k", text)]), {
        timeoutMs: 60_000,
        intervalMs: 100,
      });
      acknowledged.push(text);
      await sleep(10);
    }
  };
  const running = run();
  return {
    acknowledged,
    async stop() {
      stopped = true;
      await running;
    },
  };
}
