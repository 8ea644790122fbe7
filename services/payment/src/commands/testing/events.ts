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
import { Settlement, SettlementStatus } from "@wonrail/proto/relayer/v1/relayer";
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
  const payload = Buffer.from(JournalPosted.encode({ entries: [entry], requests: [] }).finish());
  return { type: "journal_posted", version: entry.orgSequence, occurredAt: entry.postedAt!, payload };
}

/** Projects the whole journal, as the consumer does when it has caught up. */
export async function catchUp(world: World): Promise<void> {
  await deliverAll(world, (await readJournal(world)).map(journalPosted));
}

interface Word {
  version?: bigint;
  txHash?: string;
  changedAt?: Date;
}

export function submitted(
  ledgerRef: string,
  { txHash = HASH, version = 1n, changedAt = new Date() }: Word = {},
) {
  const operations = [{ ledgerRef, relatedId: ledgerRef, version }];
  const word = OperationsSubmitted.encode({ network: NETWORK, txHash, operations, changedAt });
  const listed = { ledgerRef, changedAt, status: SettlementStatus.SUBMITTED, txHash };
  return { type: "operations_submitted", version, payload: Buffer.from(word.finish()), listed };
}

export function confirmed(
  ledgerRef: string,
  { txHash = HASH, version = 1n, changedAt = new Date() }: Word = {},
) {
  const final = { ledgerRef, txHash, blockNumber: 3n };
  const operation = { ...final, relatedId: ledgerRef, version };
  const word = OperationsConfirmed.fromPartial({ network: NETWORK, operations: [operation], changedAt });
  const payload = Buffer.from(OperationsConfirmed.encode(word).finish());
  const listed = { ...final, changedAt, status: SettlementStatus.CONFIRMED };
  return { type: "operations_confirmed", version, payload, listed };
}

export function failed(ledgerRef: string, reason = "expired", { changedAt = new Date(), ...of }: Word = {}) {
  const proof = { reason, proofBlockNumber: 3n, proofBlockHash: HASH };
  const word = OperationFailed.fromPartial({ ledgerRef, network: NETWORK, changedAt, ...proof });
  const payload = Buffer.from(OperationFailed.encode(word).finish());
  const failure = { reason, blockNumber: 3n, blockHash: HASH };
  const listed = { ledgerRef, changedAt, status: SettlementStatus.FAILED, failure };
  return { type: "operation_failed", ...of, payload, listed };
}

export function depositCredited(ledgerRef: string, fromAddress: string) {
  const final = { ledgerRef, txHash: HASH, blockNumber: 12n, fromAddress, changedAt: new Date() };
  const word = DepositCredited.fromPartial({ ...final, network: NETWORK });
  const payload = Buffer.from(DepositCredited.encode(word).finish());
  return {
    type: "deposit_credited",
    payload,
    listed: { ...final, status: SettlementStatus.CONFIRMED },
  };
}

export async function deliver(world: World, event: Delivered): Promise<void> {
  await deliverAll(world, [event]);
}

/** The settlement that chain-relayer lists once it has published the event. */
export function listed({ listed, version = 1n }: Published): Settlement {
  return Settlement.fromPartial({ ...listed, version, network: NETWORK });
}

interface Published {
  version?: bigint;
  listed: Partial<Settlement> & { ledgerRef: string };
}
