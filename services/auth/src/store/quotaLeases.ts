import { sql, type Queryable, type Tx } from "@wonrail/kit/db";
import { idToUuid, uuidToId, type Id } from "@wonrail/kit/contract/ids";
import { type Quota } from "../domain/plans";
import { type LeaseState, type QuotaLease } from "../domain/quotas";
import { type UsageKey } from "./quotaUsages";

export interface StoredLease extends QuotaLease, UsageKey {
  leaseId: string;
  replicaId: string;
  grantedAt: Date;
  expiresAt: Date;
}

/** Inserts a new lease, or an empty one that was reported before its call arrived. */
export async function insertQuotaLease(tx: Tx, lease: StoredLease): Promise<void> {
  await tx.run(sql`
    insert into quota_leases
      (org_id, lease_id, quota, period, replica_id, state, granted_units, spent_units, granted_at, expires_at)
    values (${idToUuid(lease.orgId)}, ${lease.leaseId}, ${lease.quota}, ${lease.period}, ${lease.replicaId},
      ${lease.state}, ${lease.granted}, ${lease.state === "ACCOUNTED" ? 0 : null}, ${lease.grantedAt}, ${lease.expiresAt})`);
}

/** The caller holds the lock of each lease's period. */
export async function findQuotaLeases(
  tx: Tx,
  orgId: Id<"org">,
  quota: Quota,
  leaseIds: string[],
): Promise<StoredLease[]> {
  const rows = await tx.query<LeaseRow>(sql`
    select org_id, lease_id, quota, period, replica_id, state, granted_units, granted_at, expires_at from quota_leases
    where org_id = ${idToUuid(orgId)} and quota = ${quota} and lease_id = any(${sql.array(leaseIds, "uuid[]")})`);
  return rows.map(fromRow);
}

export async function closeQuotaLease(tx: Tx, lease: StoredLease, spent: number): Promise<void> {
  await tx.run(sql`
    update quota_leases set state = 'ACCOUNTED', spent_units = ${spent}
    where org_id = ${idToUuid(lease.orgId)} and lease_id = ${lease.leaseId}`);
}

/** Units on loan to other replicas, in leases that have not expired. */
export async function sumRecallableUnits(
  tx: Tx,
  key: UsageKey,
  askingReplicaId: string,
  now: Date,
): Promise<bigint> {
  const { units } = await tx.one<{ units: bigint }>(sql`
    select coalesce(sum(granted_units), 0) as units from quota_leases
    where org_id = ${idToUuid(key.orgId)} and quota = ${key.quota} and period = ${key.period} and state = 'OPEN'
      and expires_at > ${now} and replica_id <> ${askingReplicaId}`);
  return units;
}

/**
 * Quota uses with overdue leases. `now()` lets PostgreSQL use the index; otherwise it would read
 * all open leases.
 */
export async function findOverdueUsages(db: Queryable, limit: number): Promise<UsageKey[]> {
  const rows = await db.query<{ org_id: string; quota: Quota; period: string }>(sql`
    select distinct org_id, quota, period from (
      select org_id, quota, period from quota_leases
      where state = 'OPEN' and expires_at <= now() order by expires_at limit ${limit}
    ) overdue`);
  return rows.map((row) => ({ orgId: uuidToId("org", row.org_id), quota: row.quota, period: row.period }));
}

/**
 * Expires the overdue leases of one quota use and returns them as they were. The caller holds its
 * lock.
 */
export async function expireQuotaLeases(tx: Tx, key: UsageKey): Promise<StoredLease[]> {
  const rows = await tx.query<LeaseRow>(sql`
    update quota_leases set state = 'EXPIRED'
    where org_id = ${idToUuid(key.orgId)} and quota = ${key.quota} and period = ${key.period}
      and state = 'OPEN' and expires_at <= clock_timestamp()
    returning org_id, lease_id, quota, period, replica_id, 'OPEN' as state, granted_units, granted_at, expires_at`);
  return rows.map(fromRow);
}

/**
 * `now()` and not `clock_timestamp()`: PostgreSQL uses the index only for a time that stands still.
 */
export async function deleteClosedQuotaLeases(
  db: Queryable,
  keptForDays: number,
  limit: number,
): Promise<number> {
  return db.run(sql`
    delete from quota_leases where (org_id, lease_id) in (
      select org_id, lease_id from quota_leases
      where state <> 'OPEN' and expires_at < now() - ${keptForDays} * interval '1 day'
      limit ${limit} for update skip locked)`);
}

interface LeaseRow {
  org_id: string;
  lease_id: string;
  quota: Quota;
  period: string;
  replica_id: string;
  state: LeaseState;
  granted_units: number;
  granted_at: Date;
  expires_at: Date;
}

function fromRow(row: LeaseRow): StoredLease {
  return {
    orgId: uuidToId("org", row.org_id),
    leaseId: row.lease_id,
    quota: row.quota,
    period: row.period,
    replicaId: row.replica_id,
    state: row.state,
    granted: row.granted_units,
    grantedAt: row.granted_at,
    expiresAt: row.expires_at,
  };
}
