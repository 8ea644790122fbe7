import { setTimeout as sleep } from "node:timers/promises";
import { type Bus, openKafkaBus } from "@wonrail/kit/bus";
import { eventually, testLog } from "@wonrail/kit/testing";
import { ownKafka, type OwnServer, missingKafkaReason } from "./ownServer";

const TOPIC = "wonrail.sample.v1";
const withoutKafka = missingKafkaReason();
/** Time in which a service must stop. */
const GRACE_MS = 20_000;
/**
 * Shorter than the 30 s after which a service replaces a consumer without coordinator, because this
 * test has no service. The broker's start takes some seconds of it.
 */
const KAFKA_AWAY_MS = 10_000;

describe("a killed broker", () => {
  if (withoutKafka !== undefined) {
    test.skip(`is not tested here: ${withoutKafka}`, () => undefined);
    return;
  }
  let server: OwnServer;
  let publisher: Bus;
  let reader: Bus;

  beforeAll(async () => {
    server = await ownKafka();
    const open = (clientId: string) => openKafkaBus({ ...server.place, clientId, log: testLog() });
    [publisher, reader] = [open("publisher"), open("reader")];
  }, 240_000);
  afterAll(async () => {
    await Promise.all([publisher?.close(), reader?.close()]);
    await server?.remove();
  }, 60_000);

  it("loses no acknowledged message, and clients continue when it is back", async () => {
    await publisher.ensureTopics([{ name: TOPIC, partitions: 3 }]);
    const crashes: Error[] = [];
    const received: string[] = [];
    const subscription = await reader.subscribe({
      group: "sample",
      topics: [TOPIC],
      onCrash: (error) => crashes.push(error),
      async handleBatch(messages) {
        for (const { key, value } of messages) received.push(`${key}:${value.toString()}`);
      },
    });
    const publishing = publishTo(publisher);
    await eventually(() => expect(received.length).toBeGreaterThan(100), { timeoutMs: 60_000 });

    await server.kill();
    await sleep(1_000);
    const atTheKill = publishing.acknowledged.length;
    await sleep(KAFKA_AWAY_MS - 1_000);
    expect(publishing.acknowledged.length).toBe(atTheKill);
    expect(subscription.live()).toBe(true);
    await server.start();
    const before = received.length;
    await eventually(() => expect(received.length).toBeGreaterThan(before + 100), { timeoutMs: 60_000 });
    await publishing.stop();
    await eventually(() => expect(missing(publishing.acknowledged, received)).toEqual([]), {
      timeoutMs: 60_000,
    });

    expect(crashes).toEqual([]);
    expect(subscription.live()).toBe(true);
    for (const key of ["a", "b", "c"]) {
      const ofKey = (texts: string[]) => [...new Set(texts)].filter((text) => text.startsWith(`${key}:`));
      expect(ofKey(received)).toEqual(ofKey(publishing.acknowledged));
    }
  }, 300_000);

  it("does not delay closing while it is frozen, also during publishing", async () => {
    const bus = openKafkaBus({ ...server.place, clientId: "leaver", log: testLog() });
    let received = 0;
    await bus.subscribe({
      group: "leaver",
      topics: [TOPIC],
      handleBatch: async (messages) => void (received += messages.length),
    });
    await eventually(() => expect(received).toBeGreaterThan(0), { timeoutMs: 60_000 });
    const message = { topic: TOPIC, partition: 0, key: "a", value: Buffer.alloc(0), headers: {} };
    await bus.publish([message]);

    server.freeze();
    void bus.publish([message]).catch(() => undefined);
    const startMs = Date.now();
    await bus.close();
    const tookMs = Date.now() - startMs;
    server.thaw();
    expect(tookMs).toBeLessThan(GRACE_MS / 2);
  }, 120_000);

  it("does not delay closing while it is away", async () => {
    await server.kill();
    await sleep(1_000);
    const startMs = Date.now();
    await Promise.all([publisher.close(), reader.close()]);
    expect(Date.now() - startMs).toBeLessThan(GRACE_MS);
  }, 120_000);
});

/**
 * Publishes like the outbox relay: repeats a batch until its acknowledgement, then takes the next.
 */
function publishTo(bus: Bus): { acknowledged: string[]; stop(): Promise<void> } {
  const acknowledged: string[] = [];
  let stopped = false;
  const run = async (): Promise<void> => {
    for (let next = 0; !stopped; next += 1) {
      const batch = ["a", "b", "c"].map((key, partition) => ({
        topic: TOPIC,
        partition,
        key,
        value: Buffer.from(`${next}`),
        headers: {},
      }));
      await eventually(() => bus.publish(batch), { timeoutMs: 90_000, intervalMs: 250 });
      acknowledged.push(...batch.map(({ key, value }) => `${key}:${value.toString()}`));
      await sleep(5);
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

function missing(expected: string[], present: string[]): string[] {
  const there = new Set(present);
  return expected.filter((text) => !there.has(text));
}
