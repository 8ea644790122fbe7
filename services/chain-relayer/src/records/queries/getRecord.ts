import { type Database } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type RecordChange, type TransactionRecord } from "../domain/record";
import { listChanges } from "../store/recordChanges";
import { findRecord, type RecordKey } from "../store/records";

/** Returns the record with its history. */
export async function getRecord(
  { db }: { db: Database },
  key: RecordKey,
): Promise<{ record: TransactionRecord; history: RecordChange[] }> {
  const [record, history] = await Promise.all([
    findRecord(db, key),
    listChanges(db, key.orgId, key.recordId),
  ]);
  if (!record) throw new DomainError("TX_001");
  return { record, history };
}
