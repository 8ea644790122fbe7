import { tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { firstRun, scheduleChanges, type TransactionRecord } from "../domain/record";
import { lockRecord, type RecordKey } from "../store/records";
import { changeRecord } from "./changeRecord";
import { type RecordDeps } from "./createRecord";

/**
 * Sets another time for a record that has not started. A concurrent start and this change are
 * serialised by the row's lock.
 */
export function updateRecordSchedule(
  { db, now, chain }: RecordDeps,
  { scheduledAt, ...key }: RecordKey & { scheduledAt: Date },
): Promise<TransactionRecord> {
  return tx(db, async (tx) => {
    const record = await lockRecord(tx, key);
    if (!record) throw new DomainError("TX_001");
    const nowMs = now();
    if (!scheduleChanges(record, scheduledAt, new Date(nowMs))) return record;
    const run = firstRun(record, chain.network);
    return changeRecord(tx, record, {
      to: { scheduledAt, run, attempts: 0 },
      runAt: run === "WAITING" ? scheduledAt : null,
      reason: null,
      changedBy: "api",
      nowMs,
    });
  });
}
