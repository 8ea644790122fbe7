import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { createApp } from "@wonrail/events/app";
import { newId } from "@wonrail/kit/contract/ids";
import { openDatabase, tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { createLog } from "@wonrail/kit/log";
import { Registry } from "@wonrail/kit/metrics";
import { chargeEntry } from "@wonrail/kit/records/testing/entries";
import { buildWorld, type Parts } from "@wonrail/kit/testing/buildWorld";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { type Arrival } from "./receiver";
import { startReceiver } from "./startReceiver";

const log = createLog({ service: "bench", level: "error" });
const MIGRATIONS = join(__dirname, "../../../services/events/migrations");

export type World = Awaited<ReturnType<typeof createWorld>>;

/** The events service on its own database, and a receiver of deliveries. */
export function createWorld(clusterUrl: string) {
  return buildWorld((parts) => buildEvents(parts, clusterUrl));
}

async function buildEvents(parts: Parts, clusterUrl: string) {
  const { url } = await parts.database({ clusterUrl, schema: "events", migrations: MIGRATIONS });
  const db = await parts.use(openDatabase({ url, schema: "events", applicationName: "bench", log }));
  const receiver = await parts.use(startReceiver());
  const keys = { WEBHOOK_KEK_PATH: parts.kekFile(), WEBHOOK_ALLOW_LOOPBACK: true };
  const config = { NETWORK: "WON_TESTNET", ...keys } as never;
  const registry = new Registry();
  const app = await parts.app((onClose) => createApp({ config, db, log, registry, onClose }));
  let endpoints = 0;

  /** Publishes one event of each organisation in one transaction. Returns the ids of the objects. */
  async function publish(orgIds: string[]): Promise<string[]> {
    const events = orgIds.map(posted);
    await tx(db, (tx) => app.projectJournal(tx, events));
    return events.map(({ aggregateId }) => aggregateId);
  }

  return {
    publish,
    receiver,
    /** An organisation with so many endpoints. */
    async subscribe(count: number): Promise<string> {
      const orgId = newId("org");
      for (let made = 0; made < count; made += 1) {
        const url = `${receiver.url}/${endpoints++}`;
        const wanted = { orgId, url, eventTypes: [], description: "", after: null };
        await app.createWebhook({ ...wanted, status: "ENABLED", ordering: "NONE" });
      }
      return orgId;
    },
    /** Publishes evenly. Returns the time of each wanted arrival after its commit, in ms. */
    async paced(load: Load, isWanted: (arrival: Arrival) => boolean = () => true): Promise<number[]> {
      await receiver.take();
      const committed = new Map<string, number>();
      let next = 0;
      const startMs = performance.now();
      for (let dueMs = startMs; dueMs < startMs + load.seconds * 1_000; dueMs += load.everyMs) {
        await sleep(Math.max(0, dueMs - performance.now()));
        const orgIds = Array.from(
          { length: load.eventsAtOnce },
          () => load.orgIds[next++ % load.orgIds.length]!,
        );
        const objectIds = await publish(orgIds);
        const atMs = performance.timeOrigin + performance.now();
        for (const objectId of objectIds) committed.set(objectId, atMs);
      }
      await sleep(AFTER_MS);
      const arrivals = (await receiver.take()).filter(isWanted);
      return arrivals.map(({ objectId, atMs }) => atMs - (committed.get(objectId) ?? atMs));
    },
  };
}

export interface Load {
  /** The organisations take turns. */
  orgIds: string[];
  eventsAtOnce: number;
  everyMs: number;
  seconds: number;
}

/** The last events of a load arrive within this time. */
const AFTER_MS = 2_000;

/** The aggregate is the charge, so that a delivery can be found by its object. */
function posted(orgId: string): ReceivedEvent {
  const entry = chargeEntry(newId("wal"), 5_000n, 5_000n);
  const payload = Buffer.from(JournalPosted.encode({ entries: [entry], requests: [] }).finish());
  return {
    ...{
      id: newId("evt"),
      type: "journal_posted",
      topic: "bench",
      aggregateId: entry.requestId,
      orgId,
      payload,
    },
    ...{ version: 1n, occurredAt: new Date(), traceparent: "", requestId: "" },
  };
}
