import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "node:net";
import { Kafka, logLevel } from "kafkajs";
import { sql } from "../db";
import { listDeadLetters } from "../inbox";
import { partitionOf } from "../outbox";
import { eventually, type Proxy, startProxy, testLog } from "../testing";
import { openKafkaBus, readKafkaTopic } from "./kafka";
import type { Dial } from "./kafka/dial";
import { TopicRefusedError } from "./port";
import { feedConformance } from "./testing/conformance";
import { addressOf, collect, newName, openTestKafka, textMessage } from "./testing/kafka";
import { loadKafkajs } from "./testing/loadKafkajs";
import { joinAsStranger } from "./testing/stranger";
import { BOUND_MS, openWorld, PARTITIONS, type World } from "./testing/world";
import { withTimeout } from "./waiting";

const brokers = process.env.WONRAIL_TEST_KAFKA_BROKERS?.split(",");
const SLOW = 120_000;

if (brokers === undefined) {
  // The run reports the reason at its start.
  test.skip("Kafka with the feed behind it", () => undefined);
} else {
  const quiet = { clientId: "conformance", brokers, logLevel: logLevel.NOTHING };

  feedConformance("Kafka with the feed behind it", async () => {
    await loadKafkajs();
    return brokers;
  });

  test(
    "a topic is read once from a time on, each partition in order up to its end",
    async () => {
      const options = { clientId: newName("reader"), brokers, replication: 1, log: testLog() };
      const topic = newName("read.once");
      const bus = openTestKafka(brokers);
      const texts: string[] = [];
      const read = (since: Date) =>
        readKafkaTopic(options, {
          topic,
          since,
          handle: async ({ value }) => void texts.push(value.toString()),
        });
      try {
        await bus.ensureTopics([{ name: topic, partitions: 2 }]);
        await read(new Date(0));
        expect(texts).toEqual([]);
        await bus.publish([textMessage(topic, "early")]);
        await sleep(50);
        const since = new Date();
        await bus.publish([textMessage(topic, "1"), textMessage(topic, "2")]);
        await bus.publish([{ ...textMessage(topic, "other"), partition: 1 }]);
        await read(since);
        expect(texts.filter((text) => text !== "other")).toEqual(["1", "2"]);
        expect(texts).toContain("other");
        texts.length = 0;
        await read(new Date(0));
        expect(texts.filter((text) => text !== "other")).toEqual(["early", "1", "2"]);
      } finally {
        await bus.close();
      }
    },
    SLOW,
  );

  describe("an event that Kafka loses", () => {
    let world: World;
    beforeEach(async () => {
      world = await openWorld(brokers);
    }, SLOW);
    afterEach(() => world.close(), SLOW);

    /** Numbers the next events, and marks them as published although Kafka never gets them. */
    async function loseInKafka(append: () => Promise<void>): Promise<void> {
      await world.restartRelay({ withoutKafka: true });
      await append();
      const { db } = world.producer;
      await eventually(async () => expect(await db.query(sql`select from outbox_pending`)).toEqual([]));
      await world.relay.close();
      await db.run(sql`update feed_heads set published = number`);
      await world.restartRelay();
    }

    it(
      "is read from the feed before the next event, when a number is missing",
      async () => {
        const replica = await world.startReplica();
        await world.append("a", 3);
        await world.complete();
        await loseInKafka(async () => {
          await world.append("a", 3);
          // A later event shows the gap at once.
          await world.append("a", 1);
        });
        await world.append("a", 1);
        await world.complete(BOUND_MS);
        expect(replica.live()).toBe(true);
      },
      SLOW,
    );

    it(
      "is read from the feed within 5 s when no event follows",
      async () => {
        const replica = await world.startReplica();
        await world.append("a", 3);
        await world.complete();
        await loseInKafka(() => world.append("a", 3));
        await world.complete(BOUND_MS);
        expect(await replica.registry.metrics()).toMatch(/feed_repaired_events_total\{.*\} [1-9]/);
      },
      SLOW,
    );

    it(
      "is read from the feed when the topic is deleted and created again",
      async () => {
        await world.startReplica();
        await world.append("a", 5);
        await world.complete();
        await world.deleteTopic();
        await world.append("a", 5);
        await world.complete(BOUND_MS);
        await world.append("a", 5);
        await world.complete(BOUND_MS);
      },
      SLOW,
    );

    it(
      "is brought by the feed while Kafka is away for good",
      async () => {
        await world.startReplica();
        world.kafkaProxy!.setMode({ kind: "reset" });
        await world.append("a", 5);
        await world.complete(BOUND_MS);
      },
      SLOW,
    );

    it(
      "becomes a dead letter without a move of the cursor when it has no number",
      async () => {
        await world.startReplica();
        await world.append("a", 2);
        await world.publishRaw(partitionOf("a", PARTITIONS), "from elsewhere", { event_type: "noted" });
        await world.append("a", 2);
        await world.complete();
        expect(await listDeadLetters(world.consumer.db)).toMatchObject([
          { number: null, error: expect.stringContaining("feed_number") },
        ]);
      },
      SLOW,
    );

    it(
      "waits for the feed when the producer does not know its number",
      async () => {
        await world.startReplica();
        await world.append("a", 2);
        const partition = partitionOf("a", PARTITIONS);
        await world.publishRaw(partition, "ahead", { event_type: "noted", feed_number: "9" });
        await sleep(500);
        await world.append("a", 10);
        await world.complete(BOUND_MS);
      },
      SLOW,
    );
  });

  describe("topics", () => {
    it(
      "are created with the settings that the feed relies on, and unsafe ones are refused",
      async () => {
        const [name, admin] = [newName("topic"), new Kafka(quiet).admin()];
        const bus = openTestKafka(brokers);
        await bus.ensureTopics([{ name, partitions: 2 }]);
        await admin.connect();
        const { resources } = await admin.describeConfigs({
          includeSynonyms: false,
          resources: [
            { type: 2, name, configNames: ["retention.ms", "cleanup.policy", "min.insync.replicas"] },
          ],
        });
        await admin.disconnect();
        const values = resources[0]!.configEntries.map(({ configName, configValue }) => [
          configName,
          configValue,
        ]);
        expect(Object.fromEntries(values)).toEqual({
          "cleanup.policy": "delete",
          "min.insync.replicas": "1",
          "retention.ms": "604800000",
        });
        await expect(bus.ensureTopics([{ name, partitions: 3 }])).rejects.toThrow(TopicRefusedError);
        await bus.close();
        const strict = openKafkaBus({ clientId: "test", brokers, replication: 2, log: testLog() });
        await expect(strict.ensureTopics([{ name, partitions: 2 }])).rejects.toThrow("1 of 2 replicas");
        await strict.close();
      },
      SLOW,
    );
  });

  describe("known defects of kafkajs", () => {
    let bus: ReturnType<typeof openTestKafka>;
    let proxy: Proxy;
    beforeEach(async () => {
      bus = openTestKafka(brokers);
      proxy = await startProxy({ target: addressOf(brokers[0]!) });
    });
    afterEach(async () => {
      await bus.close();
      await proxy.close();
    });

    it("rejects when the group refuses the consumer, and reports no crash", async () => {
      const { topic, group, crashes, request } = await prepare();
      const stranger = await joinAsStranger(brokers, group, topic);
      await expect(collect(bus, request)).rejects.toThrow(/protocol/);
      expect(crashes).toEqual([]);
      await stranger.disconnect();
      const consumer = await collect(bus, request);
      expect(consumer.subscription.live()).toBe(true);
    }, 90_000);

    it("reports a consumer that crashed for good and is no longer live", async () => {
      const { topic, group, crashes, request } = await prepare();
      const far = openTestKafka(brokers, proxy);
      const consumer = await collect(far, request);
      // The group forgets the consumer and takes another member with another protocol.
      proxy.setMode({ kind: "blackhole" });
      const stranger = await joinAsStranger(brokers, group, topic);
      proxy.setMode({ kind: "pass" });
      await eventually(() => expect(crashes).toHaveLength(1), { timeoutMs: 30_000 });
      expect(crashes[0]!.message).toMatch(/protocol/);
      expect(consumer.subscription.live()).toBe(false);
      await stranger.disconnect();
      await far.close();
    }, 90_000);

    async function prepare() {
      const [topic, group] = [newName("topic"), newName("group")];
      await bus.ensureTopics([{ name: topic, partitions: 1 }]);
      const crashes: Error[] = [];
      const request = { group, topics: [topic], onCrash: (error: Error) => void crashes.push(error) };
      return { topic, group, crashes, request };
    }

    it("stops waiting when aborted, also for a broker that left during the join", async () => {
      const topic = newName("topic");
      let silent = false;
      proxy.setMode({ kind: "blackhole" });
      const dial: Dial = ({ onConnect }) => {
        const { host, port } = silent ? proxy : addressOf(brokers[0]!);
        return connect({ host, port }, onConnect);
      };
      const options = { brokers, replication: 1, clientId: "test", log: testLog() };
      const leaving = openKafkaBus(options, { dial, requestTimeoutMs: 600_000 });
      await leaving.ensureTopics([{ name: topic, partitions: 1 }]);
      silent = true;
      const stop = new AbortController();
      const request = { group: newName("group"), topics: [topic], handleBatch: async () => undefined };
      const joining = leaving.subscribe({ ...request, signal: stop.signal });
      const outcome = expect(joining).rejects.toThrow();
      await eventually(() => expect(proxy.connections).toBe(1));
      stop.abort();
      // Closing would give up after 15 s.
      await withTimeout(10_000, "the waiting did not end", outcome);
      await leaving.close();
    }, 60_000);

    it("uses the next broker when the first accepts connections and never answers", async () => {
      const topic = newName("topic");
      proxy.setMode({ kind: "blackhole" });
      const options = { replication: 1, brokers: [`${proxy.host}:${proxy.port}`, ...brokers] };
      const late = openKafkaBus(
        { ...options, clientId: "test", log: testLog() },
        { requestTimeoutMs: 2_000 },
      );
      await late.ensureTopics([{ name: topic, partitions: 1 }]);
      await eventually(() => late.publish([textMessage(topic, "there")]), { timeoutMs: 30_000 });
      const reader = await collect(late, { group: newName("group"), topics: [topic] });
      await eventually(() => expect(reader.texts).toEqual(["there"]), { timeoutMs: 30_000 });
      await late.close();
    }, 90_000);

    // The reason why openProducer is not idempotent. If this test fails, kafkajs was repaired:
    // review the decision.
    it("an idempotent producer acknowledges messages that it did not store after lost answers", async () => {
      const topic = newName("topic");
      await bus.ensureTopics([{ name: topic, partitions: 1 }]);
      const producer = new Kafka({
        ...quiet,
        requestTimeout: 2_000,
        retry: { retries: 1, initialRetryTime: 50 },
        socketFactory: ({ onConnect }) => connect({ host: proxy.host, port: proxy.port }, onConnect),
      }).producer({ idempotent: true, maxInFlightRequests: 1 });
      await producer.connect();
      const send = (text: string) =>
        producer.send({ topic, acks: -1, messages: [{ key: "k", partition: 0, value: text }] });

      await send("first");
      proxy.setMode({ kind: "dropResponses" });
      await expect(send("given up")).rejects.toThrow();
      proxy.setMode({ kind: "pass" });
      await send("acknowledged and lost");
      await send("last");
      await producer.disconnect();

      const reader = await collect(bus, { group: newName("group"), topics: [topic] });
      await eventually(() => expect(reader.texts).toContain("last"), { timeoutMs: 30_000 });
      expect(reader.texts).not.toContain("acknowledged and lost");
    }, 90_000);

    it("the chosen settings store every acknowledged message after the same fault", async () => {
      const topic = newName("topic");
      await bus.ensureTopics([{ name: topic, partitions: 1 }]);
      const faulty = openTestKafka(brokers, proxy);
      await faulty.publish([textMessage(topic, "first")]);
      proxy.setMode({ kind: "dropResponses" });
      const unanswered = faulty.publish([textMessage(topic, "unanswered")]);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      proxy.setMode({ kind: "pass" });
      await expect(unanswered).rejects.toThrow();
      await eventually(() => faulty.publish([textMessage(topic, "unanswered")]));
      await faulty.publish([textMessage(topic, "next")]);
      await faulty.publish([textMessage(topic, "last")]);
      await faulty.close();

      const reader = await collect(bus, { group: newName("group"), topics: [topic] });
      await eventually(() => expect(reader.texts).toContain("last"), { timeoutMs: 30_000 });
      expect([...new Set(reader.texts)]).toEqual(["first", "unanswered", "next", "last"]);
    }, 90_000);
  });
}
