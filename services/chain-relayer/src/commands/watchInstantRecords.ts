import { type Database, tx } from "@wonrail/kit/db";
import { type Block, type Provider } from "../chain/provider";
import { nextLookMs, type TransactionRecord } from "../domain/record";
import { lockRecord, postponeRecords, takeWatchedRecords } from "../store/records";
import { changeRecord, type Change } from "./changeRecord";

export interface WatchRecordsDeps {
  db: Database;
  provider: Pick<Provider, "finalBlock" | "block" | "receipt">;
  now: () => number;
  /** Others leave a record alone for this long while its hash is looked up here. */
  lookMs?: number;
}

const AT_ONCE = 100;
const LOOK_MS = 5_000;
const UNTIL_FINAL_MS = 1_000;
/** A hash that no node has seen for so long is said to be so, once. */
const NOT_SEEN_AFTER_MS = 60_000;

/** Looks for recorded hashes in final blocks: what is mined there decides. What is not seen stays PENDING, and its history says so. */
export async function watchInstantRecords(deps: WatchRecordsDeps, signal: AbortSignal): Promise<void> {
  const { lookMs = LOOK_MS } = deps;
  const final = await deps.provider.finalBlock();
  if (!final) return;
  for (let more = true; more && !signal.aborted;) {
    const records = await tx(deps.db, (tx) => takeWatchedRecords(tx, lookMs, AT_ONCE));
    const looks = await Promise.all(records.map((record) => look(deps, record, final)));
    await postponeRecords(
      deps.db,
      looks.flatMap((later) => later ?? []),
    );
    more = records.length === AT_ONCE;
  }
}

/** Undefined when the record's end was found; else when to look again. */
async function look(deps: WatchRecordsDeps, record: TransactionRecord, final: Block) {
  const { provider, now } = deps;
  const receipt = await provider.receipt(record.txHash!);
  if (!receipt) {
    const ageMs = now() - record.createdAt.getTime();
    if (ageMs >= NOT_SEEN_AFTER_MS && record.version === 1n)
      await noteNotSeen(deps, record, nextLookMs(ageMs));
    return { key: record, delayMs: nextLookMs(ageMs) };
  }
  if (receipt.blockNumber > final.number) return { key: record, delayMs: UNTIL_FINAL_MS };
  // The receipt may be of a block that is no longer there.
  const block = await provider.block(receipt.blockNumber);
  if (block?.hash !== receipt.blockHash) return { key: record, delayMs: UNTIL_FINAL_MS };
  await settle(deps, record, receipt.succeeded);
  return undefined;
}

async function settle(deps: WatchRecordsDeps, record: TransactionRecord, succeeded: boolean): Promise<void> {
  const failureReason = succeeded ? null : "reverted";
  await changePending(deps, record, {
    to: { status: succeeded ? "CONFIRMED" : "FAILED", failureReason, run: "DONE" },
    runAt: null,
    reason: failureReason,
  });
}

async function noteNotSeen(
  deps: WatchRecordsDeps,
  record: TransactionRecord,
  againMs: number,
): Promise<void> {
  const runAt = new Date(deps.now() + againMs);
  await changePending(deps, record, { to: {}, runAt, reason: "not_seen_on_chain" });
}

/** Unless the owner's own word came first. */
async function changePending(
  { db, now }: WatchRecordsDeps,
  key: TransactionRecord,
  change: Pick<Change, "to" | "runAt" | "reason">,
): Promise<void> {
  await tx(db, async (tx) => {
    const record = await lockRecord(tx, key);
    if (record?.run !== "WATCHED" || record.version !== key.version) return;
    await changeRecord(tx, record, { ...change, changedBy: "chain", nowMs: now() });
  });
}
