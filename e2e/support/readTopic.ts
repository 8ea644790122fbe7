import { setTimeout as sleep } from "node:timers/promises";
import { openKafkaBus } from "@wonrail/kit/bus";
import { sql } from "@wonrail/kit/db";
import { createLog } from "@wonrail/kit/log";
import { asAdmin } from "./asAdmin";
import { type TestStack } from "./startStack";

export interface Wanted {
  /** Service of the topic. */
  service: "wallet";
  type: string;
  /** Ids to find among the events. */
  ids: ReadonlySet<string>;
}

const PATIENCE_MS = 120_000;

/**
 * Reads a service's events from the first one, for a limited time. Returns the ids without an
 * event.
 */
export async function findMissingOnBus(stack: TestStack, wanted: Wanted): Promise<string[]> {
  const { bus } = stack.stack();
  const missing = new Set(wanted.ids);
  const reading =
    bus.kind === "kafka"
      ? readKafka(bus.brokers.split(","), wanted, missing)
      : readFeed(stack, wanted, missing);
  const { close } = await reading;
  const deadline = Date.now() + PATIENCE_MS;
  while (missing.size > 0 && Date.now() < deadline) await sleep(50);
  await close();
  return [...missing];
}

interface Reading {
  close(): Promise<void>;
}

async function readKafka(
  brokers: string[],
  { service, type }: Wanted,
  missing: Set<string>,
): Promise<Reading> {
  const log = createLog({ service: "e2e", level: "silent" });
  const bus = openKafkaBus({ brokers, replication: 1, clientId: "e2e", log });
  await bus.subscribe({
    group: `e2e.${Date.now()}`,
    topics: [`wonrail.${service}.v1`],
    handleBatch: async (messages) => {
      for (const { headers } of messages)
        if (headers.event_type === type) missing.delete(headers.aggregate_id!);
    },
  });
  return bus;
}

/** The numbered rows of the outbox are the feed. */
async function readFeed(stack: TestStack, { service, type }: Wanted, missing: Set<string>): Promise<Reading> {
  let closed = false;
  const read = async (): Promise<void> => {
    while (!closed && missing.size > 0) {
      const rows = await asAdmin(stack.stack(), service, (db) =>
        db.query<{ aggregate_id: string }>(sql`
          select o.aggregate_id from feed_positions p join outbox o on o.id = p.outbox_id where o.type = ${type}`),
      );
      for (const { aggregate_id } of rows) missing.delete(aggregate_id);
      await sleep(200);
    }
  };
  const reading = read();
  return {
    async close() {
      closed = true;
      await reading;
    },
  };
}
