import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../../testing";
import type { ReceivedMessage } from "../port";
import { type Conforms, newName, series, seriesMessages, textMessage } from "./conformance";
import { arrived, collect, firstOccurrences } from "./consumers";
import { LEASE_MS } from "./underTest";

export function describeGroups(conforms: Conforms): void {
  describe("groups", () => {
    conforms(
      "goes on where the last consumer stopped, and repeats nothing after a clean stop",
      async ({ open, newTopic }) => {
        const topic = await newTopic();
        const group = newName("group");
        const bus = open();
        const first = await collect(bus, { group, topics: [topic] });
        await bus.publish(seriesMessages(topic, "k", 5));
        await arrived(first, series("k", 5));
        await first.subscription.close();
        expect(first.subscription.live()).toBe(false);
        await bus.publish(seriesMessages(topic, "k", 5, 5));
        const second = await collect(open(), { group, topics: [topic] });
        await arrived(second, series("k", 5, 5));
        expect(second.texts()).toEqual(series("k", 5, 5));
        expect(first.texts()).toEqual(series("k", 5));
      },
    );

    conforms(
      "stops cleanly in the middle of a batch: what was handled is committed, the rest is not touched",
      async ({ open, newTopic }) => {
        const topic = await newTopic();
        const group = newName("group");
        const bus = open();
        await bus.publish(seriesMessages(topic, "k", 20));
        const slowly = { group, topics: [topic], maxBatch: 2, handle: () => sleep(150) };
        const first = await collect(bus, slowly);
        await eventually(() => expect(first.received.length).toBeGreaterThanOrEqual(4), {
          timeoutMs: 10_000,
        });
        await first.subscription.close();
        const done = first.texts();
        expect(done.length).toBeLessThan(20);
        await sleep(400);
        expect(first.texts()).toEqual(done);

        const second = await collect(bus, { group, topics: [topic] });
        await arrived(second, series("k", 20).slice(done.length));
        expect([...done, ...second.texts()]).toEqual(series("k", 20));
      },
    );

    conforms("shares the partitions between two consumers", async ({ open, newTopic }) => {
      const topic = await newTopic(4);
      const group = newName("group");
      const consumers = [
        await collect(open(), { group, topics: [topic] }),
        await collect(open(), { group, topics: [topic] }),
      ];
      const keys = Array.from({ length: 40 }, (_, index) => `key${index}`);
      const bus = open();
      // Once each has had something, the shares are settled, and what comes then shows them.
      await eventually(
        async () => {
          await bus.publish(keys.map((key) => textMessage(topic, key, `${key}-settling`)));
          await sleep(200);
          for (const { received } of consumers) expect(received.length).toBeGreaterThan(0);
        },
        { timeoutMs: 40_000 },
      );
      await eventually(async () => {
        expect((await bus.lag(group, [topic])).every(({ messages }) => messages === 0)).toBe(true);
      });
      const settled = consumers.map(({ received }) => received.length);
      await bus.publish(keys.flatMap((key) => seriesMessages(topic, key, 3)));
      const both = { texts: () => consumers.flatMap((consumer) => consumer.texts()) };
      await arrived(
        both,
        keys.flatMap((key) => series(key, 3)),
      );
      const shares = consumers.map(
        ({ received }, index) => new Set(received.slice(settled[index]).map(({ partition }) => partition)),
      );
      expect(shares.map(({ size }) => size)).toEqual([2, 2]);
      expect([...shares[0]!].filter((partition) => shares[1]!.has(partition))).toEqual([]);
    });

    conforms(
      "gives a topic only to the members that asked for it, as in the middle of a release",
      async ({ open, newTopic }) => {
        const [known, added] = [await newTopic(2), await newTopic(4)];
        const group = newName("group");
        const old = await collect(open(), { group, topics: [known] });
        const released = await collect(open(), { group, topics: [known, added] });
        const late = await collect(open(), { group, topics: [known] });
        const keys = Array.from({ length: 20 }, (_, index) => `key${index}`);
        await open().publish(
          [known, added].flatMap((topic) => keys.map((key) => textMessage(topic, key, `${topic}/${key}`))),
        );
        await arrived(
          released,
          keys.map((key) => `${added}/${key}`),
        );
        const all = { texts: () => [old, released, late].flatMap((consumer) => consumer.texts()) };
        await arrived(
          all,
          keys.map((key) => `${known}/${key}`),
        );
      },
    );

    conforms("rebalances in mid-batch without losing or reordering anything", async ({ open, newTopic }) => {
      const topic = await newTopic(4);
      const group = newName("group");
      const bus = open();
      const keys = Array.from({ length: 12 }, (_, index) => `key${index}`);
      const all = keys.flatMap((key) => series(key, 60));
      await bus.publish(keys.flatMap((key) => seriesMessages(topic, key, 60)));
      const handled: ReceivedMessage[] = [];
      const handle = async (messages: ReceivedMessage[]) => {
        await sleep(150);
        handled.push(...messages);
      };
      const slowly = { group, topics: [topic], maxBatch: 5, handle };
      const first = await collect(bus, slowly);
      await eventually(() => expect(first.received.length).toBeGreaterThan(10));
      const second = await collect(open(), slowly);
      await eventually(() => expect(second.received.length).toBeGreaterThan(10), { timeoutMs: 40_000 });
      await first.subscription.close();
      const third = await collect(open(), slowly);
      await arrived({ texts: () => handled.map(({ value }) => value.toString()) }, all, 80_000);

      for (const key of keys) {
        const ofKey = handled.filter((message) => message.key === key);
        expect(firstOccurrences(ofKey)).toEqual(series(key, 60));
      }
      expect(second.subscription.live() && third.subscription.live()).toBe(true);
    });

    conforms(
      "gives a killed consumer's messages to the others when its lease is over",
      async ({ open, newTopic, target, startConsumer }) => {
        const topic = await newTopic(2);
        const group = newName("group");
        const bus = open();
        const order = { place: target.place, group, topics: [topic], maxBatch: 2, handleMs: 50 };
        const victim = await startConsumer(order);
        await bus.publish([...seriesMessages(topic, "a", 100), ...seriesMessages(topic, "b", 100)]);
        await eventually(() => expect(victim.texts().length).toBeGreaterThan(10));
        await victim.kill();
        const killedMs = Date.now();
        const heir = await collect(bus, { group, topics: [topic] });
        const both = { texts: () => [...victim.texts(), ...heir.texts()] };
        await arrived(both, [...series("a", 100), ...series("b", 100)], 30_000);
        expect(Date.now() - killedMs).toBeLessThan(2 * LEASE_MS[target.place.kind] + 15_000);
        expect(heir.received.length).toBeLessThan(200);
      },
    );

    conforms(
      "does not let a consumer that was frozen past its lease move the position",
      async ({ open, newTopic, target, startConsumer }) => {
        const topic = await newTopic();
        const group = newName("group");
        const bus = open();
        const order = { place: target.place, group, topics: [topic], maxBatch: 1, handleMs: 200 };
        const zombie = await startConsumer(order);
        await bus.publish(seriesMessages(topic, "k", 30));
        await eventually(() => expect(zombie.texts().length).toBeGreaterThan(2));
        zombie.child.kill("SIGSTOP");
        const heir = await collect(bus, { group, topics: [topic] });
        // Together: what the other did before it was stopped may be read only now.
        const both = { texts: () => [...zombie.texts(), ...heir.texts()] };
        await arrived(both, series("k", 30));
        expect(heir.received.length).toBeGreaterThan(0);
        await eventually(async () => expect((await bus.lag(group, [topic]))[0]!.messages).toBe(0));
        zombie.child.kill("SIGCONT");
        await sleep(1_500);
        expect((await bus.lag(group, [topic]))[0]!.messages).toBe(0);
        expect(heir.subscription.live()).toBe(true);
        await zombie.kill();
      },
    );

    conforms(
      "keeps its partitions during a handler that takes longer than the lease",
      async ({ open, newTopic, target }) => {
        const topic = await newTopic();
        const group = newName("group");
        const bus = open();
        let calls = 0;
        const handle = async () => {
          calls += 1;
          if (calls === 1) await sleep(LEASE_MS[target.place.kind] * 1.5);
        };
        await bus.publish(seriesMessages(topic, "k", 3));
        const consumer = await collect(bus, { group, topics: [topic], handle });
        await eventually(() => expect(calls).toBe(1));
        // A rival, so that a lost lease would show: it waits while the group is rebalanced, as long as the handler runs.
        const rival = collect(open(), { group, topics: [topic] });
        await arrived(consumer, series("k", 3));
        expect((await rival).texts()).toEqual([]);
        expect(consumer.texts()).toEqual(series("k", 3));
      },
    );
  });
}
