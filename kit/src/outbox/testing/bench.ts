import type { Bus, BusMessage, Topic } from "../../bus/port";
import { tx, type Database } from "../../db";
import { Registry } from "../../metrics";
import { createTestDatabase, testLog, type TestDatabase } from "../../testing";
import { appendEvents, startOutboxRelay, type NewEvent, type OutboxRelay } from "..";

/** A database per test of a file, and parts that are closed after it. */
export interface OutboxBench {
  test: TestDatabase;
  opened: { close(): Promise<void> }[];
  startRelay(
    db: Database,
    bus?: Bus,
    options?: { pollMs?: number; batchSize?: number; registry?: Registry },
  ): OutboxRelay;
}

export function outboxBench(): OutboxBench {
  const opened: OutboxBench["opened"] = [];
  const bench = {
    opened,
    startRelay(db, bus, options = {}) {
      const relay = startOutboxRelay({
        db,
        bus,
        topic: TOPIC,
        log: testLog(),
        registry: new Registry(),
        pollMs: 50,
        ...options,
      });
      opened.push(relay);
      return relay;
    },
  } as OutboxBench;
  beforeEach(async () => {
    bench.test = await createTestDatabase({ schema: "sample" });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    for (const part of opened.splice(0).reverse()) await part.close();
    await bench.test.drop();
  });
  return bench;
}

/** Keeps the messages, as a broker does. Fails while `down` is set. */
export function recordingBus() {
  const messages: BusMessage[] = [];
  const bus = {
    messages,
    down: false,
    async publish(batch: BusMessage[]) {
      if (bus.down) throw new Error("the broker is away");
      messages.push(...batch);
    },
  };
  return bus as typeof bus & Bus;
}

export const TOPIC: Topic = { name: "wonrail.sample.v1", partitions: 3 };

export const event = (aggregateId: string, version: number): NewEvent => ({
  topic: TOPIC.name,
  type: "thing_changed",
  aggregateId,
  version,
  orgId: "org_1",
  payload: Buffer.from([version]),
});
export const append = (db: Database, ...events: NewEvent[]) => tx(db, (tx) => appendEvents(tx, events));
export const namesOf = (messages: BusMessage[]) =>
  messages.map(({ key, headers }) => `${key}.${headers.version}`);
