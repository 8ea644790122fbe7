import { tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { firstRun, realDueTime, scheduleChanges, type TransactionRecord } from "../domain/record";
import { lockRecord, type RecordKey } from "../store/records";
import { changeRecord } from "./changeRecord";
import { type RecordDeps } from "./createRecord";
import { lockClockOffset } from "./testClock";

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
    const offsetMs = await lockClockOffset(tx, { chain }, key.orgId);
    if (!scheduleChanges(record, scheduledAt, new Date(nowMs + offsetMs))) return record;
    const run = firstRun(record, chain.network);
    const dueAt = realDueTime(scheduledAt, record.createdAt, offsetMs);
    return changeRecord(tx, record, {
      to: { scheduledAt, dueAt, run, attempts: 0 },
      runAt: run === "WAITING" ? (dueAt ?? scheduledAt) : null,
      reason: null,
      changedBy: "api",
      nowMs,
    });
  });
}
