import { childTraceparent, currentContext } from "@wonrail/kit/context";
import { type Database, tx } from "@wonrail/kit/db";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import {
  asMade,
  dueTimeOf,
  firstRun,
  type GivenFields,
  type PaymentType,
  readFields,
  realDueTime,
  type TransactionRecord,
  findTransferProblem,
} from "../domain/record";
import { firstChange } from "../store/recordChanges";
import { findRecordByKey, findRecordIdByHash, insertRecord, type RequestKey } from "../store/records";
import { publishVersion } from "./changeRecord";
import { findClockOffset, lockClockOffset } from "./testClock";
import { findNormalWallets, type WalletFinder } from "./findNormalWallets";

export interface RecordDeps {
  db: Database;
  chain: { network: string };
  now: () => number;
}

export interface CreateRecordDeps extends RecordDeps {
  chain: { network: string; tokenAddress: string; paymentManagerAddress: string };
  wallet: WalletFinder;
}

export interface RecordRequest {
  orgId: string;
  paymentType: PaymentType;
  fields: GivenFields;
  /** Null: a repetition creates another record. */
  key: RequestKey | null;
  /** Only an earlier result under the key may be returned. */
  repeatOnly?: boolean;
}

export interface CreatedRecord {
  record: TransactionRecord;
  /** True when an earlier request with the key created it. */
  replayed: boolean;
}

/**
 * A request with a key creates one record, and each organisation records a hash once per network.
 * Concurrent requests get the first record. The key is checked first, because a repeated request's
 * scheduled time may have passed.
 */
export async function createRecord(deps: CreateRecordDeps, wanted: RecordRequest): Promise<CreatedRecord> {
  const earlier = await findEarlier(deps, wanted);
  if (earlier) return earlier;
  if (wanted.repeatOnly) throw new DomainError("WAUTH_004");
  const isScheduled = wanted.paymentType === "SCHEDULED";
  const read = newRecord(deps, wanted, isScheduled ? await findClockOffset(deps.db, deps, wanted.orgId) : 0);
  if (read.run === "WAITING") await refuseImpossible(deps, read);
  const { made, record } = await tx(deps.db, async (tx) => {
    // The clock stays until the end of the transaction.
    const offsetMs = read.run === "WAITING" ? await lockClockOffset(tx, deps, wanted.orgId) : 0;
    const record = { ...read, dueAt: realDueTime(read.scheduledAt, read.createdAt, offsetMs) };
    const runAt = record.run === "UNATTENDED" ? null : firstLookAt(record);
    const inserted = await insertRecord(tx, record, { runAt, key: wanted.key });
    if (inserted) await publishVersion(tx, record, { reason: null, changedBy: "api" });
    return { made: inserted, record };
  });
  if (made) return { record, replayed: false };
  // A concurrent request was first: with the same key or the same hash.
  const first = await findEarlier(deps, wanted);
  if (first) return first;
  throw new DomainError("TX_002", { id: (await findRecordIdByHash(deps.db, record))! });
}

/**
 * Refuses a transfer that is impossible for any wallet. The wallet service is asked only if
 * something speaks against it, so valid records are created while it is away.
 */
async function refuseImpossible(
  { wallet, chain }: CreateRecordDeps,
  record: TransactionRecord,
): Promise<void> {
  const problems = findTransferProblem(record, [chain.tokenAddress, chain.paymentManagerAddress]);
  if (problems.length === 0) return;
  const { orgId, fromAddress } = record;
  const normal = await findNormalWallets(wallet, orgId, [fromAddress]);
  if (normal.has(fromAddress.toLowerCase())) throw invalidRequest(problems);
}

/** The record of the key, as it was created. */
async function findEarlier(
  { db }: RecordDeps,
  { orgId, key }: RecordRequest,
): Promise<CreatedRecord | undefined> {
  const found = key && (await findRecordByKey(db, orgId, key.idempotencyKey));
  if (!found) return undefined;
  if (!found.bodyHash.equals(key.bodyHash)) throw new DomainError("REQ_003");
  const first = await firstChange(db, orgId, found.record.recordId);
  return { record: asMade(found.record, first), replayed: true };
}

function firstLookAt(record: TransactionRecord): Date {
  return record.scheduledAt === null ? record.createdAt : dueTimeOf(record);
}

/** Scheduled times are compared with the test clock, which is ahead by the offset. */
function newRecord(
  { chain, now }: RecordDeps,
  { orgId, paymentType, fields }: RecordRequest,
  offsetMs: number,
): TransactionRecord {
  const createdAt = new Date(now());
  const read = readFields(paymentType, fields, new Date(createdAt.getTime() + offsetMs));
  const context = currentContext();
  return {
    ...read,
    orgId,
    recordId: newId("txn", createdAt.getTime()),
    status: "PENDING",
    failureReason: null,
    changedMetadata: null,
    run: firstRun(read, chain.network),
    dueAt: null,
    transferId: null,
    attempts: 0,
    version: 1n,
    requestId: context?.requestId ?? newId("req"),
    traceparent: context?.traceparent ?? childTraceparent(),
    createdAt,
    updatedAt: createdAt,
  };
}
