import { setTimeout as sleep } from "node:timers/promises";
import { type Bus, openKafkaBus } from "@wonrail/kit/bus";
import { eventually, testLog } from "@wonrail/kit/testing";
import { Kafka, logLevel } from "kafkajs";
import { ownCluster, type OwnCluster } from "./ownCluster";
import { missingKafkaReason } from "./ownServer";

// Faults that a single broker never shows.

const TOPIC = "wonrail.sample.v1";
const PARTITIONS = 12;
const BATCH = 60;
/** Their coordinators are spread over all brokers. */
const GROUPS = 6;
const skipped = missingKafkaReason();

if (skipped !== undefined) {
  test.skip(`several brokers are not tested here: ${skipped}`, () => undefined);
} else {
  describe("with three brokers", () => {
    let cluster: OwnCluster;
    let publisher: Bus;
    beforeAll(async () => {
      cluster = await ownCluster(3);
      publisher = open("publisher");
      await eventually(() => publisher.ensureTopics([{ name: TOPIC, partitions: PARTITIONS }]), {
        timeoutMs: 60_000,
      });
    }, 240_000);
    afterAll(async () => {
      await publisher?.close();
      await cluster?.remove();
    }, 60_000);

    const open = (clientId: string, brokers = cluster.brokers): Bus =>
      openKafkaBus({ brokers, replication: 3, clientId, log: testLog() });

    test("no acknowledged message is lost while they stop, or are killed, one after the other", async () => {
      const publishing = publishTo(publisher);
      const kill = async (id: number): Promise<void> => cluster.signal(id, "SIGKILL");
      for (const end of [cluster.stop, kill])
        for (const id of [2, 3]) {
          await sleep(5_000);
          await end(id);
          await sleep(3_000);
          await cluster.start(id);
        }
      await sleep(5_000);
      const acknowledged = await publishing.stop();
      expect(acknowledged).toBeGreaterThan(50 * BATCH);
      const present = new Set<string>();
      const reader = open("reader");
      await reader.subscribe({
        ...{ group: "reader", topics: [TOPIC], maxBatch: 20_000 },
        handleBatch: async (messages) => messages.forEach(({ key }) => present.add(key)),
      });
      const missing = () => [...Array(acknowledged).keys()].filter((number) => !present.has(String(number)));
      const limits = { timeoutMs: 90_000, intervalMs: 1_000 };
      try {
        await eventually(() => expect(missing().length).toBe(0), limits);
      } finally {
        await reader.close();
      }
    }, 300_000);

    test("a process that starts while the first broker is frozen publishes and consumes", async () => {
      cluster.signal(3, "SIGSTOP");
      try {
        await sleep(12_000); // Until other brokers lead its partitions.
        const late = open("late", cluster.brokers.toReversed());
        const keys: string[] = [];
        await eventually(() => late.publish([message("late")]), { timeoutMs: 60_000 });
        await eventually(
          () =>
            late.subscribe({
              ...{ group: "late", topics: [TOPIC], maxBatch: 20_000 },
              handleBatch: async (messages) => void keys.push(...messages.map(({ key }) => key)),
            }),
          { timeoutMs: 90_000 },
        );
        await eventually(() => expect(keys).toContain("late"), { timeoutMs: 30_000 });
        await late.close();
      } finally {
        cluster.signal(3, "SIGCONT");
      }
    }, 300_000);

    test("consumer groups commit again when their coordinator is gone for good", async () => {
      const bus = open("groups");
      const groups = [...Array(GROUPS).keys()].map((number) => `group-${number}`);
      await Promise.all(groups.map((group) => consume(bus, group)));
      const expectNoLag = async () =>
        expect(await Promise.all(groups.map((group) => lagOf(cluster.brokers, group)))).toEqual(
          groups.map(() => 0),
        );
      await eventually(expectNoLag, { timeoutMs: 90_000 });
      cluster.signal(2, "SIGKILL");
      const publishing = publishTo(publisher);
      await sleep(5_000);
      await publishing.stop();
      await eventually(expectNoLag, { timeoutMs: 120_000, intervalMs: 1_000 });
      await bus.close();
    }, 300_000);
  });
}

const message = (key: string) => ({
  topic: TOPIC,
  partition: key === "late" ? 0 : Number(key) % PARTITIONS,
  key,
  value: Buffer.from(key),
  headers: {},
});

/** Consumes like a service: a crashed consumer is closed and replaced. */
async function consume(bus: Bus, group: string): Promise<void> {
  const onCrash = (): void => void subscribed.then((one) => one.close()).then(() => consume(bus, group));
  const handleBatch = async (): Promise<void> => undefined;
  const subscribe = () => bus.subscribe({ group, topics: [TOPIC], handleBatch, onCrash });
  const subscribed = eventually(subscribe, { timeoutMs: 120_000, intervalMs: 1_000 });
  await subscribed;
}

async function lagOf(brokers: string[], group: string): Promise<number> {
  const admin = new Kafka({ clientId: "operator", brokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const [committed] = await admin.fetchOffsets({ groupId: group, topics: [TOPIC] });
    const ends = await admin.fetchTopicOffsets(TOPIC);
    return ends.reduce((sum, { partition, high }) => {
      const place = committed!.partitions.find((one) => one.partition === partition)!.offset;
      return sum + Number(high) - Math.max(0, Number(place));
    }, 0);
  } finally {
    await admin.disconnect();
  }
}

/**
 * Publishes like the outbox relay. Keys are numbers from 0; stopping returns the number of
 * acknowledged messages.
 */
function publishTo(bus: Bus): { stop(): Promise<number> } {
  let stopped = false;
  let next = 0;
  const running = (async () => {
    while (!stopped) {
      const batch = [...Array(BATCH).keys()].map((index) => message(String(next + index)));
      await eventually(() => bus.publish(batch), { timeoutMs: 90_000, intervalMs: 250 });
      next += BATCH;
      await sleep(20);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await running;
      return next;
    },
  };
}
