import { type Database, tx } from "@wonrail/kit/db";
import { type Block, type Provider, RpcRefusal, RpcUnanswered, type TransferReceipt } from "../../evm";
import { differingField, LAST_CHECK_MS, nextCheckMs, type TransactionRecord } from "../domain/record";
import { lockRecord, postponeRecords, takeWatchedRecords } from "../store/records";
import { changeRecord, type Change } from "./changeRecord";

export interface WatchRecordsDeps {
  db: Database;
  provider: Pick<Provider, "finalBlock" | "block" | "transferReceipts">;
  chain: { tokenAddress: string };
  now: () => number;
  /** Lease of a record during its look-up. */
  lookMs?: number;
}

const AT_ONCE = 100;
const MOST_BATCHES = 20;
const MOST_OF_ONE = 200;
const LOOK_MS = 5_000;
/** A hash that was first seen after days is final as soon after that as any other. */
const UNTIL_FINAL_MOST_MS = 60_000;
/** Age at which an unseen hash is noted in the history, once. */
const NOT_SEEN_AFTER_MS = 60_000;

/**
 * Looks up recorded hashes in final blocks, whose transfers decide the status. An unseen hash stays
 * PENDING, and its history notes that. A run looks up a limited number of each organisation's
 * hashes.
 */
export async function watchInstantRecords(deps: WatchRecordsDeps, signal: AbortSignal): Promise<void> {
  const { lookMs = LOOK_MS } = deps;
  const looked = new Map<string, number>();
  for (let batches = 0; batches < MOST_BATCHES && !signal.aborted; batches += 1) {
    const full = [...looked].flatMap(([orgId, count]) => (count >= MOST_OF_ONE ? [orgId] : []));
    const records = await tx(deps.db, (tx) =>
      takeWatchedRecords(tx, lookMs, { limit: AT_ONCE, except: full }),
    );
    if (records.length === 0) return;
    for (const { orgId } of records) looked.set(orgId, (looked.get(orgId) ?? 0) + 1);
    await lookAt(deps, records);
  }
}

async function lookAt(deps: WatchRecordsDeps, records: TransactionRecord[]): Promise<void> {
  const final = await deps.provider.finalBlock();
  if (!final) return;
  const chain = { final, receiptOf: await findReceipts(deps, records), blockAt: onceEach(deps.provider) };
  const looks = await Promise.allSettled(records.map((record) => look(deps, record, chain)));
  await postponeRecords(
    deps.db,
    looks.flatMap((look, index) =>
      look.status === "rejected" ? notYet(deps, records[index]!) : (look.value ?? []),
    ),
  );
  const failed = looks.find((look) => look.status === "rejected");
  if (failed) throw failed.reason;
}

/** State of the chain for one look-up. */
interface SeenChain {
  final: Block;
  receiptOf: (txHash: string) => Promise<TransferReceipt | undefined>;
  blockAt: (number: bigint) => Promise<Block | null>;
}

/**
 * Looks up all hashes in one question. If a stranger's hash makes it fail, each hash is asked for
 * alone, and only that one waits.
 */
async function findReceipts(
  { provider, chain: { tokenAddress } }: WatchRecordsDeps,
  records: TransactionRecord[],
): Promise<SeenChain["receiptOf"]> {
  try {
    const receipts = await provider.transferReceipts(
      [...new Set(records.map(({ txHash }) => txHash!))],
      tokenAddress,
    );
    return (txHash) => Promise.resolve(receipts.get(txHash));
  } catch (error) {
    if (!(error instanceof RpcRefusal || error instanceof RpcUnanswered)) throw error;
    return async (txHash) => (await provider.transferReceipts([txHash], tokenAddress)).get(txHash);
  }
}

/** Caches blocks, because many hashes share one. */
function onceEach(provider: WatchRecordsDeps["provider"]): SeenChain["blockAt"] {
  const asked = new Map<bigint, Promise<Block | null>>();
  return (number) => {
    const block = asked.get(number) ?? provider.block(number);
    asked.set(number, block);
    return block;
  };
}

type Later = { record: TransactionRecord; delayMs: number };

/** Undefined when the record's end was found; else when to look again. */
async function look(
  deps: WatchRecordsDeps,
  record: TransactionRecord,
  { final, receiptOf, blockAt }: SeenChain,
): Promise<Later | undefined> {
  const receipt = await receiptOf(record.txHash!);
  if (!receipt) return lookAgain(deps, record);
  if (receipt.blockNumber > final.number) return notYet(deps, record);
  // The receipt may be of a block that is no longer there.
  const block = await blockAt(receipt.blockNumber);
  if (block?.hash !== receipt.blockHash) return notYet(deps, record);
  await settle(deps, record, failureOf(record, receipt));
  return undefined;
}

/** A successful transaction settles a record only if one of its transfers matches. */
function failureOf(record: TransactionRecord, { succeeded, transfers }: TransferReceipt): string | null {
  if (!succeeded) return "reverted";
  const field = differingField(record, transfers);
  return field && `${field}_differs`;
}

/** Returns undefined after the last look-up; then the owner maintains the status. */
async function lookAgain(deps: WatchRecordsDeps, record: TransactionRecord): Promise<Later | undefined> {
  const ageMs = ageMsOf(deps, record);
  if (ageMs >= LAST_CHECK_MS) {
    const to = { run: "UNATTENDED" as const };
    await changePending(deps, record, { to, runAt: null, reason: "not_seen_within_30_days" });
    return undefined;
  }
  if (ageMs >= NOT_SEEN_AFTER_MS && record.version === 1n)
    await noteNotSeen(deps, record, nextCheckMs(ageMs));
  return { record, delayMs: nextCheckMs(ageMs) };
}

function notYet(deps: WatchRecordsDeps, record: TransactionRecord): Later {
  return { record, delayMs: Math.min(nextCheckMs(ageMsOf(deps, record)), UNTIL_FINAL_MOST_MS) };
}

function ageMsOf({ now }: WatchRecordsDeps, { createdAt }: TransactionRecord): number {
  return now() - createdAt.getTime();
}

async function settle(
  deps: WatchRecordsDeps,
  record: TransactionRecord,
  failureReason: string | null,
): Promise<void> {
  const status = failureReason === null ? "CONFIRMED" : "FAILED";
  const to = { status, failureReason, run: "DONE" } as const;
  await changePending(deps, record, { to, runAt: null, reason: failureReason });
}

async function noteNotSeen(
  deps: WatchRecordsDeps,
  record: TransactionRecord,
  againMs: number,
): Promise<void> {
  const runAt = new Date(deps.now() + againMs);
  await changePending(deps, record, { to: {}, runAt, reason: "not_seen_on_chain" });
}

/** Unless the owner was first. */
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
