import { type Database, tx } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type Log } from "@wonrail/kit/log";
import { type Entry, type LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { type EntryOrder, readEntry, unreadable, walletLinesOf } from "../domain/readEntry";
import { orderOfMemo } from "../domain/sandboxOrders";
import { findSequences, findTakenNames, insertOperations, type NewOperation } from "../store/operations";
import {
  type JournalPlace,
  listBehind,
  listHungryQueues,
  lowerHead,
  moveCursor,
  recordServed,
  type QueueState,
  rewindCursor,
} from "../store/settlementQueues";
import { insertOrders, type SandboxOrder } from "../store/sandboxOrders";
import { saveWalletSequences } from "../store/walletSequences";

export type JournalReader = Pick<PromiseClient<LedgerServiceService>, "listJournal" | "listJournalHeads">;

export interface PullDeps {
  db: Database;
  log: Log;
  ledger: JournalReader;
  /** Whether memos order outcomes of settlements. */
  hasSandbox: boolean;
}

/** A queue with this many plannable operations pulls no more. */
const ENOUGH_READY = 500;
/** A queue with this many operations behind stuck ones pulls no more. */
const MOST_HELD_UP = 2_000;
const MOST_QUEUES = 100;
/** Limit of entries of all queues per look. */
const AT_ONCE = 4_000;
/** The ledger's limit. */
const PAGE = 500;

/**
 * Pulls entries of queues with room, in journal order, the longest waiting queue first. Returns the
 * number.
 */
export async function pullEntries(deps: PullDeps, signal: AbortSignal): Promise<number> {
  const { db } = deps;
  const room = { enoughReady: ENOUGH_READY, mostHeldUp: MOST_HELD_UP, limit: MOST_QUEUES };
  const queues = await listHungryQueues(db, room);
  let pulled = 0;
  for (const queue of queues) {
    if (signal.aborted || pulled >= AT_ONCE) break;
    // Noted first: a queue that fails must not be the first for ever.
    await recordServed(db, [queue.orgId]);
    pulled += await pullQueue(deps, queue).catch((error: unknown) => {
      deps.log.warn({ err: error, orgId: queue.orgId }, "the journal could not be pulled");
      return 0;
    });
  }
  return pulled;
}

/** Pulls all queues to their heads, also paused ones, because executed operations must be known. */
export async function pullAll(deps: PullDeps): Promise<void> {
  for (let behind = await listBehind(deps.db); behind.length > 0; behind = await listBehind(deps.db))
    for (const queue of behind) await pullQueue(deps, queue);
}

/** Pulls the next page of one journal. Returns the number of entries. */
export async function pullQueue(deps: PullDeps, cursor: QueueState): Promise<number> {
  const { db, ledger, log } = deps;
  const { orgId } = cursor;
  // Starts with the entry at the cursor, to check that it is still the pulled one.
  const after = cursor.sequence > 0n ? cursor.sequence - 1n : 0n;
  const { entries, lastSequence } = await ledger.listJournal({ orgId, afterSequence: after, limit: PAGE });
  if (isReplaced(cursor, entries[0], lastSequence)) {
    await returnToKnown(deps, cursor, lastSequence);
    return 1;
  }
  const fresh = entries.filter(({ orgSequence }) => orgSequence > cursor.sequence);
  const last = fresh.at(-1);
  if (!last) {
    await lowerHead(db, cursor, lastSequence);
    return 0;
  }
  const orders = fresh.flatMap((entry) => readOrder(entry, orgId, log) ?? []);
  const to = { sequence: last.orgSequence, ref: last.requestId, postedAt: last.postedAt ?? null };
  const isFirst = await tx(db, async (tx) => {
    if (!(await moveCursor(tx, cursor, to))) return false;
    const taken = await findTakenNames(tx, orders);
    if (taken.size > 0)
      log.error({ orgId, ledgerRefs: [...taken] }, "entries have operation names that other entries use");
    insertOperations(
      tx,
      orders.map((one) => (taken.has(one.ledgerRef) ? { ...one, blockedReason: "name_in_use" } : one)),
    );
    if (deps.hasSandbox) insertOrders(tx, ordersOf(orgId, fresh));
    await saveWalletSequences(tx, orgId, walletLinesOf(fresh));
    return true;
  });
  if (isFirst && log.isLevelEnabled("debug"))
    for (const { origin, requestId: ledgerRef } of fresh) log.debug({ ...origin, ledgerRef }, "pulled");
  return isFirst ? fresh.length : 0;
}

/**
 * Whether the ledger has another entry at the cursor, as after a restore. Detached months
 * prove nothing.
 */
function isReplaced({ sequence, ref }: JournalPlace, at: Entry | undefined, lastSequence: bigint): boolean {
  if (sequence === 0n) return false;
  if (lastSequence < sequence) return true;
  return ref !== "" && at?.orgSequence === sequence && at.requestId !== ref;
}

/** Sets the cursor back to an entry that both journals have, further back each time. */
async function returnToKnown(deps: PullDeps, cursor: JournalPlace, lastSequence: bigint): Promise<void> {
  const { db, ledger, log } = deps;
  const { orgId } = cursor;
  let to = { sequence: 0n, ref: "" };
  for (let back = BigInt(PAGE); back < cursor.sequence + BigInt(PAGE); back *= 2n) {
    const after = back < cursor.sequence ? cursor.sequence - back : 0n;
    const { entries } = await ledger.listJournal({ orgId, afterSequence: after, limit: PAGE });
    const sequences = await findSequences(
      db,
      orgId,
      entries.map(({ requestId }) => requestId),
    );
    const known = entries.findLast((entry) => sequences.get(entry.requestId) === entry.orgSequence);
    if (known) to = { sequence: known.orgSequence, ref: known.requestId };
    if (known || after === 0n) break;
  }
  if (await rewindCursor(db, cursor, to, lastSequence))
    log.error(
      { orgId, from: cursor.sequence.toString(), to: to.sequence.toString() },
      "the ledger's journal was replaced: entries are pulled again",
    );
}

function ordersOf(orgId: string, entries: Entry[]): SandboxOrder[] {
  return entries.flatMap((entry) => {
    const order = orderOfMemo(entry);
    return order === undefined ? [] : [{ orgId, ledgerRef: entry.requestId, order }];
  });
}

/** Returns null for an entry without work on the chain. An unreadable entry is BLOCKED. */
function readOrder(entry: Entry, orgId: string, log: Log): NewOperation | null {
  try {
    const order = readEntry(entry);
    return order && toOperation(orgId, order, null);
  } catch (error) {
    log.error({ err: error, orgId, ledgerRef: entry.requestId }, "an entry cannot be read");
    return toOperation(orgId, unreadable(entry), "unreadable");
  }
}

function toOperation(
  orgId: string,
  { postedAt, ...order }: EntryOrder,
  blockedReason: string | null,
): NewOperation {
  return { ...order, orgId, blockedReason, createdAt: postedAt };
}
