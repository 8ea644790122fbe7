import { childTraceparent, currentContext } from "@wonrail/kit/context";
import { type Database, tx } from "@wonrail/kit/db";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import {
  asMade,
  firstRun,
  type GivenFields,
  type PaymentType,
  readFields,
  type TransactionRecord,
  findTransferProblem,
} from "../domain/record";
import { firstChange } from "../store/recordChanges";
import { findRecordByKey, findRecordIdByHash, insertRecord, type RequestKey } from "../store/records";
import { publishVersion } from "./changeRecord";
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
  const record = newRecord(deps, wanted);
  if (record.run === "WAITING") await refuseImpossible(deps, record);
  const runAt = record.run === "UNATTENDED" ? null : (record.scheduledAt ?? record.createdAt);
  const made = await tx(deps.db, async (tx) => {
    const inserted = await insertRecord(tx, record, { runAt, key: wanted.key });
    if (inserted) await publishVersion(tx, record, { reason: null, changedBy: "api" });
    return inserted;
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

function newRecord(
  { chain, now }: RecordDeps,
  { orgId, paymentType, fields }: RecordRequest,
): TransactionRecord {
  const createdAt = new Date(now());
  const read = readFields(paymentType, fields, createdAt);
  const context = currentContext();
  return {
    ...read,
    orgId,
    recordId: newId("txn", createdAt.getTime()),
    status: "PENDING",
    failureReason: null,
    changedMetadata: null,
    run: firstRun(read, chain.network),
    transferId: null,
    attempts: 0,
    version: 1n,
    requestId: context?.requestId ?? newId("req"),
    traceparent: context?.traceparent ?? childTraceparent(),
    createdAt,
    updatedAt: createdAt,
  };
}
