import { join } from "node:path";
import { newId } from "@wonrail/kit/contract/ids";
import { sql, tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { testLog, testRegistry } from "@wonrail/kit/testing";
import { buildWorld, type Parts } from "@wonrail/kit/testing/buildWorld";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { type Entry } from "@wonrail/proto/ledger/v1/ledger";
import {
  OperationFailed,
  OperationsConfirmed,
  OperationsSubmitted,
} from "@wonrail/proto/relayer/events/v1/events";
import { type App, createApp } from "../../app";
import { type Config } from "../../config";
import { type EventsWanted } from "../queries/listEvents";

export const NETWORK = "WON_TESTNET";
export const TX_HASH = `0x${"5f".repeat(32)}`;

type Project =
  | "projectJournal"
  | "projectChain"
  | "projectWallets"
  | "projectMetadata"
  | "projectPayouts"
  | "projectKeys";

export type World = Awaited<ReturnType<typeof openWorld>>;

/** The service's app on its own database. Tests hand it events of other services directly. */
export function openWorld() {
  return buildWorld(buildEvents);
}

async function buildEvents(parts: Parts) {
  const migrations = join(__dirname, "../../../migrations");
  const database = await parts.database({ schema: "events", migrations });
  const WEBHOOK_KEK_PATH = parts.kekFile();
  const registry = testRegistry();
  const app: App = await parts.app((onClose) =>
    createApp({
      config: { NETWORK, WEBHOOK_KEK_PATH, WEBHOOK_ALLOW_LOOPBACK: true } as Config,
      ...{ db: database.db, log: testLog(), registry, onClose },
    }),
  );
  const project = (by: Project, events: ReceivedEvent[]) => tx(database.db, (tx) => app[by](tx, events));
  return {
    ...database,
    app,
    registry,
    project,
    post: (orgId: string, ...entries: Entry[]) => project("projectJournal", [journalPosted(orgId, entries)]),
    settle: (orgId: string, ...events: ReceivedEvent[]) =>
      project(
        "projectChain",
        events.map((event) => ({ ...event, orgId })),
      ),
    async list(orgId: string, wanted: Partial<EventsWanted> = {}) {
      const all = { after: null, types: [], objectId: null, isDescending: false, limit: 100, waitMs: 0 };
      const found = await app.listEvents({ ...all, orgId, ...wanted });
      return {
        ...found,
        // eslint-disable-next-line @typescript-eslint/no-unsafe-assignment -- what a test reads of it is what it asserts
        events: found.events.map(({ dataJson, ...event }) => ({ ...event, data: JSON.parse(dataJson) })),
      };
    },
    /** Lets days pass for all keys. */
    moveKeys: (days: number) =>
      database.db.run(sql`
        update api_keys set issued_at = issued_at - ${days} * interval '1 day',
          expires_at = expires_at - ${days} * interval '1 day'`),
  };
}

/** An event of another service, as the inbox hands it over. */
export function received(
  type: string,
  orgId: string,
  aggregateId: string,
  payload: Uint8Array,
): ReceivedEvent {
  return {
    ...{ id: newId("evt"), type, topic: "test", aggregateId, orgId, payload: Buffer.from(payload) },
    ...{ version: 1n, occurredAt: new Date(), traceparent: "", requestId: "" },
  };
}

function journalPosted(orgId: string, entries: Entry[]): ReceivedEvent {
  return received("journal_posted", orgId, orgId, JournalPosted.encode({ entries, requests: [] }).finish());
}

export function submitted(...ledgerRefs: string[]): ReceivedEvent {
  const operations = ledgerRefs.map((ledgerRef) => ({ ledgerRef, relatedId: ledgerRef, version: 1n }));
  const message = OperationsSubmitted.encode({ network: NETWORK, txHash: TX_HASH, operations });
  return received("operations_submitted", "", ledgerRefs[0]!, message.finish());
}

export function confirmed(...ledgerRefs: string[]): ReceivedEvent {
  const place = { txHash: TX_HASH, blockNumber: 129n, blockHash: TX_HASH, gasUsed: 1n };
  const operations = ledgerRefs.map((ledgerRef) => ({
    ledgerRef,
    relatedId: ledgerRef,
    version: 2n,
    ...place,
  }));
  const message = OperationsConfirmed.encode({ network: NETWORK, operations });
  return received("operations_confirmed", "", ledgerRefs[0]!, message.finish());
}

export function failed(ledgerRef: string, reason: string): ReceivedEvent {
  const proof = { proofBlockNumber: 1n, proofBlockHash: TX_HASH, proofBlockTime: 1n };
  const message = { ledgerRef, relatedId: ledgerRef, network: NETWORK, reason, ...proof };
  return received("operation_failed", "", ledgerRef, OperationFailed.encode(message).finish());
}
