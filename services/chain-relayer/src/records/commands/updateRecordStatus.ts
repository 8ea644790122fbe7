import { tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { readReason, type RecordStatus, statusChanges, type TransactionRecord } from "../domain/record";
import { lockRecord, type RecordKey } from "../store/records";
import { changeRecord } from "./changeRecord";
import { type RecordDeps } from "./createRecord";

/** Sets the owner's status. It takes precedence if it comes before the chain's. */
export function updateRecordStatus(
  { db, now }: RecordDeps,
  { status, failureReason, ...key }: RecordKey & { status: RecordStatus; failureReason: string | undefined },
): Promise<TransactionRecord> {
  const reason = readReason(status, failureReason);
  return tx(db, async (tx) => {
    const record = await lockRecord(tx, key);
    if (!record) throw new DomainError("TX_001");
    if (!statusChanges(record, status)) return record;
    return changeRecord(tx, record, {
      to: { status, failureReason: reason, run: "DONE" },
      runAt: null,
      reason,
      changedBy: "api",
      nowMs: now(),
    });
  });
}
