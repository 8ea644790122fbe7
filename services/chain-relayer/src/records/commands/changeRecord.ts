import { type Tx } from "@wonrail/kit/db";
import { appendEvents } from "@wonrail/kit/outbox";
import { type ChangedBy, type RecordChange, type TransactionRecord } from "../domain/record";
import { recordChanged } from "../events";
import { insertChange } from "../store/recordChanges";
import { saveRecord } from "../store/records";

export interface Change {
  /** Changed fields. */
  to: Partial<
    Pick<
      TransactionRecord,
      "status" | "failureReason" | "txHash" | "scheduledAt" | "dueAt" | "run" | "transferId" | "attempts"
    >
  >;
  /** Time of the service's next look; null when none is needed. */
  runAt: Date | null;
  reason: string | null;
  changedBy: ChangedBy;
  nowMs: number;
}

/** Changes a locked record: row, history and event in one transaction. */
export async function changeRecord(
  tx: Tx,
  record: TransactionRecord,
  change: Change,
): Promise<TransactionRecord> {
  const changedAt = new Date(Math.max(change.nowMs, record.updatedAt.getTime()));
  const changed = { ...record, ...change.to, version: record.version + 1n, updatedAt: changedAt };
  await saveRecord(tx, changed, change.runAt);
  await publishVersion(tx, changed, change);
  return changed;
}

/** A record's newest version, in its history and as an event. */
export async function publishVersion(
  tx: Tx,
  record: TransactionRecord,
  { reason, changedBy }: Pick<Change, "reason" | "changedBy">,
): Promise<void> {
  const { version, status, scheduledAt, updatedAt: changedAt } = record;
  const change: RecordChange = { version, status, scheduledAt, reason, changedBy, changedAt };
  await insertChange(tx, record, change);
  await appendEvents(tx, [recordChanged(record, change)]);
}
