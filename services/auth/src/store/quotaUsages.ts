import { sql, type Queryable, type Tx } from "@wonrail/kit/db";
import { idToUuid, type Id } from "@wonrail/kit/contract/ids";
import { type Quota } from "../domain/plans";
import { type QuotaUsage } from "../domain/quotas";

/** The use of one quota in one period. */
export interface UsageKey {
  orgId: Id<"org">;
  quota: Quota;
  period: string;
}

/**
 * Locks the use of these periods and of the named leases' periods, oldest first. Every change of a
 * lease needs its period's lock.
 */
export async function lockQuotaUsages(
  tx: Tx,
  { orgId, quota, period }: UsageKey,
  leaseIds: string[],
): Promise<Map<string, QuotaUsage>> {
  await tx.run(sql`
    insert into quota_usages (org_id, quota, period, limit_units, spent_units, leased_units)
    values (${idToUuid(orgId)}, ${quota}, ${period}, 0, 0, 0)
    on conflict do nothing`);
  const rows = await tx.query<UsageRow>(sql`
    select quota, period, limit_units, spent_units, leased_units from quota_usages
    where org_id = ${idToUuid(orgId)} and quota = ${quota} and period in (
      select ${period} union
      select l.period from quota_leases l
      where l.org_id = ${idToUuid(orgId)} and l.lease_id = any(${sql.array(leaseIds, "uuid[]")}) and l.quota = ${quota})
    order by period for update`);
  return new Map(rows.map((row) => [row.period, fromRow(row)]));
}

export async function updateQuotaUsage(tx: Tx, key: UsageKey, usage: QuotaUsage): Promise<void> {
  await tx.run(sql`
    update quota_usages
    set limit_units = ${usage.limit}, spent_units = ${usage.spent}, leased_units = ${usage.leased}
    where org_id = ${idToUuid(key.orgId)} and quota = ${key.quota} and period = ${key.period}`);
}

export async function listQuotaUsages(
  db: Queryable,
  orgId: Id<"org">,
  periods: string[],
): Promise<{ quota: Quota; period: string; usage: QuotaUsage }[]> {
  const rows = await db.query<UsageRow>(sql`
    select quota, period, limit_units, spent_units, leased_units from quota_usages
    where org_id = ${idToUuid(orgId)} and period = any(${sql.array(periods, "text[]")})`);
  return rows.map((row) => ({ quota: row.quota, period: row.period, usage: fromRow(row) }));
}

/** The use of a quota in a calendar month. */
export interface UsageOfMonth {
  quota: Quota;
  month: string;
  limit: bigint;
  used: bigint;
}

/** The months from this one on, oldest first. Quotas without reset have no months. */
export function listMonthlyUsages(
  db: Queryable,
  orgId: Id<"org">,
  fromMonth: string,
): Promise<UsageOfMonth[]> {
  return db.query<UsageOfMonth>(sql`
    select quota, period as month, limit_units as limit, spent_units as used from quota_usages
    where org_id = ${idToUuid(orgId)} and period >= ${fromMonth} and period <> 'ever'
    order by period, quota`);
}

interface UsageRow {
  quota: Quota;
  period: string;
  limit_units: bigint;
  spent_units: bigint;
  leased_units: bigint;
}

function fromRow(row: UsageRow): QuotaUsage {
  return { limit: row.limit_units, spent: row.spent_units, leased: row.leased_units };
}
