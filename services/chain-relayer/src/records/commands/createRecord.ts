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
  whyNoTransfer,
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

export interface RecordWanted {
  orgId: string;
  paymentType: PaymentType;
  fields: GivenFields;
  /** Null: whoever asks again asks for another record. */
  key: RequestKey | null;
  /** Only what was made earlier under the key is asked for. */
  repeatOnly?: boolean;
}

export interface RecordMade {
  record: TransactionRecord;
  /** It was made by an earlier request with the same key. */
  replayed: boolean;
}

/**
 * A request with a key makes one record, and a hash is recorded once for each organisation and network, however many ask at once; the others
 * are told of the first. The key comes before everything else: a time that was in the future need not be any more when the request is repeated.
 */
export async function createRecord(deps: CreateRecordDeps, wanted: RecordWanted): Promise<RecordMade> {
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
  // Somebody else's came first: the same request at the same moment, or another with the same hash.
  const first = await findEarlier(deps, wanted);
  if (first) return first;
  throw new DomainError("TX_002", { id: (await findRecordIdByHash(deps.db, record))! });
}

/**
 * What no transfer can ever be is refused now, and not when it is due, if it would be sent then. Who is to send it is asked about only where something speaks
 * against it: all else is recorded also while the wallet service is away.
 */
async function refuseImpossible(
  { wallet, chain }: CreateRecordDeps,
  record: TransactionRecord,
): Promise<void> {
  const problems = whyNoTransfer(record, [chain.tokenAddress, chain.paymentManagerAddress]);
  if (problems.length === 0) return;
  const { orgId, fromAddress } = record;
  const normal = await findNormalWallets(wallet, orgId, [fromAddress]);
  if (normal.has(fromAddress.toLowerCase())) throw invalidRequest(problems);
}

/** What the key stands for, as it was when it was made. */
async function findEarlier(
  { db }: RecordDeps,
  { orgId, key }: RecordWanted,
): Promise<RecordMade | undefined> {
  const found = key && (await findRecordByKey(db, orgId, key.idempotencyKey));
  if (!found) return undefined;
  if (!found.bodyHash.equals(key.bodyHash)) throw new DomainError("REQ_003");
  const first = await firstChange(db, orgId, found.record.recordId);
  return { record: asMade(found.record, first), replayed: true };
}

function newRecord(
  { chain, now }: RecordDeps,
  { orgId, paymentType, fields }: RecordWanted,
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
