import { newId } from "@wonrail/kit/contract/ids";
import { tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { type Entry } from "@wonrail/proto/ledger/v1/ledger";
import {
  DepositCredited,
  OperationFailed,
  OperationsConfirmed,
  OperationsSubmitted,
} from "@wonrail/proto/relayer/events/v1/events";
import { consumers } from "../../consumers";
import { type World } from "./world";

export const NETWORK = "WON_TESTNET";
export const HASH = `0x${"b".repeat(64)}`;

type Delivered = Pick<ReceivedEvent, "type" | "payload"> & Partial<ReceivedEvent>;

/** Passes events of one type to their consumer in one transaction, as the inbox does. */
export async function deliverAll(world: World, events: Delivered[]): Promise<void> {
  const [first] = events;
  if (!first) return;
  const handler = consumers(world.app())
    .map(({ handlers }) => handlers[first.type])
    .find((found) => found !== undefined)!;
  const received = events.map((event): ReceivedEvent => ({
    ...{ id: newId("evt"), topic: "test", aggregateId: world.orgId, version: 1n, occurredAt: new Date() },
    ...{ orgId: world.orgId, traceparent: "", requestId: newId("req"), ...event },
  }));
  await tx(world.db(), async (tx) => {
    if (typeof handler !== "function") await handler.all(tx, received);
    else for (const event of received) await handler(tx, event);
  });
}

/** Every entry of the ledger's journal, in order. */
export async function readJournal(world: World): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const afterSequence = entries.at(-1)?.orgSequence ?? 0n;
    const page = await world.ledger().listJournal({ orgId: world.orgId, afterSequence, limit: 500 });
    if (page.entries.length === 0) return entries;
    entries.push(...page.entries);
  }
}

export function journalPosted(entry: Entry): Delivered {
  const payload = Buffer.from(JournalPosted.encode({ entries: [entry] }).finish());
  return { type: "journal_posted", version: entry.orgSequence, occurredAt: entry.postedAt!, payload };
}

/** Projects the whole journal, as the consumer does when it has caught up. */
export async function catchUp(world: World): Promise<void> {
  await deliverAll(world, (await readJournal(world)).map(journalPosted));
}

interface Word {
  version?: bigint;
  txHash?: string;
  occurredAt?: Date;
}

export function submitted(ledgerRef: string, { txHash = HASH, version = 1n, ...of }: Word = {}): Delivered {
  const operations = [{ ledgerRef, relatedId: ledgerRef, version }];
  const word = OperationsSubmitted.encode({ network: NETWORK, txHash, operations });
  return { type: "operations_submitted", ...of, payload: Buffer.from(word.finish()) };
}

export function confirmed(ledgerRef: string, { txHash = HASH, version = 1n, ...of }: Word = {}): Delivered {
  const operation = { ledgerRef, relatedId: ledgerRef, version, txHash, blockNumber: 3n };
  const word = OperationsConfirmed.fromPartial({ network: NETWORK, operations: [operation] });
  const payload = Buffer.from(OperationsConfirmed.encode(word).finish());
  return { type: "operations_confirmed", ...of, payload };
}

export function failed(ledgerRef: string, reason = "expired", of: Word = {}): Delivered {
  const proof = { reason, proofBlockNumber: 3n, proofBlockHash: HASH };
  const word = OperationFailed.fromPartial({ ledgerRef, network: NETWORK, ...proof });
  return { type: "operation_failed", ...of, payload: Buffer.from(OperationFailed.encode(word).finish()) };
}

export function depositCredited(ledgerRef: string, fromAddress: string): Delivered {
  const of = { ledgerRef, network: NETWORK, txHash: HASH, blockNumber: 12n, fromAddress };
  const payload = Buffer.from(DepositCredited.encode(DepositCredited.fromPartial(of)).finish());
  return { type: "deposit_credited", payload };
}

export async function deliver(world: World, event: Delivered): Promise<void> {
  await deliverAll(world, [event]);
}
