import { type Queryable, sql, type Tx } from "@wonrail/kit/db";
import {
  type ChangedBy,
  type RecordChange,
  type RecordStatus,
  type TransactionRecord,
} from "../domain/record";

/** Limit per record, because a schedule may change without end. */
const MAX_SHOWN = 100;

export async function insertChange(tx: Tx, record: TransactionRecord, change: RecordChange): Promise<void> {
  await tx.run(sql`
    insert into record_changes (org_id, record_id, version, status, scheduled_at, reason, changed_by, changed_at)
    values (${record.orgId}, ${record.recordId}, ${change.version}, ${change.status}, ${change.scheduledAt}, ${change.reason},
      ${change.changedBy}, ${change.changedAt})`);
}

interface ChangeRow {
  version: bigint;
  status: RecordStatus;
  scheduled_at: Date | null;
  reason: string | null;
  changed_by: ChangedBy;
  changed_at: Date;
}

/** The newest of them, oldest first. */
export async function listChanges(db: Queryable, orgId: string, recordId: string): Promise<RecordChange[]> {
  const rows = await db.query<ChangeRow>(sql`
    select * from (
      select version, status, scheduled_at, reason, changed_by, changed_at from record_changes
      where org_id = ${orgId} and record_id = ${recordId} order by version desc limit ${MAX_SHOWN}) as newest
    order by version`);
  return rows.map(toChange);
}

/** The record's creation. */
export async function firstChange(db: Queryable, orgId: string, recordId: string): Promise<RecordChange> {
  const row = await db.one<ChangeRow>(sql`
    select version, status, scheduled_at, reason, changed_by, changed_at from record_changes
    where org_id = ${orgId} and record_id = ${recordId} and version = 1`);
  return toChange(row);
}

function toChange(row: ChangeRow): RecordChange {
  return {
    version: row.version,
    status: row.status,
    scheduledAt: row.scheduled_at,
    reason: row.reason,
    changedBy: row.changed_by,
    changedAt: row.changed_at,
  };
}
