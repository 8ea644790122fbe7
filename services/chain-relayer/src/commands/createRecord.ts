import { childTraceparent, currentContext } from "@wonrail/kit/context";
import { type Database, tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/errors";
import { newId } from "@wonrail/kit/ids";
import {
  firstRun,
  type GivenFields,
  type PaymentType,
  readFields,
  type TransactionRecord,
} from "../domain/record";
import { findRecordIdByHash, insertRecord } from "../store/records";
import { tell } from "./changeRecord";

export interface RecordDeps {
  db: Database;
  chain: { network: string };
  now: () => number;
}

/** A hash is recorded once for each organisation and network, however many ask at once; the others are told of the first. */
export async function createRecord(
  { db, chain, now }: RecordDeps,
  { orgId, paymentType, fields }: { orgId: string; paymentType: PaymentType; fields: GivenFields },
): Promise<TransactionRecord> {
  const createdAt = new Date(now());
  const read = readFields(paymentType, fields, createdAt);
  const context = currentContext();
  const record: TransactionRecord = {
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
  const runAt = record.run === "UNATTENDED" ? null : (record.scheduledAt ?? createdAt);
  const made = await tx(db, async (tx) => {
    const inserted = await insertRecord(tx, record, runAt);
    if (inserted) await tell(tx, record, { reason: null, changedBy: "api" });
    return inserted;
  });
  if (!made) throw new DomainError("TX_002", { id: (await findRecordIdByHash(db, record))! });
  return record;
}
