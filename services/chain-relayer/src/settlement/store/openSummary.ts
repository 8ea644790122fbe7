import { type Queryable, type Sql, sql } from "@wonrail/kit/db";

/** Open operations of one state and reason. */
export interface OpenSummary {
  state: string;
  /** Empty when they only wait for their turn. */
  reason: string;
  /** Counted up to 10,000. */
  count: number;
  /** Age of the oldest counted one. */
  oldestSeconds: number;
}

const MOST_COUNTED = 10_000;
const OPEN = sql`o.state in ('WAITING', 'PLANNED', 'IN_FLIGHT', 'BLOCKED')`;

/**
 * Counts open operations for operators, who ask every few seconds. Reads no queue: the metrics have
 * the ages apart from paused queues.
 */
export function summarizeOpen(db: Queryable): Promise<OpenSummary[]> {
  const nextReason = (those: Sql) => sql`
    (select o.wait_reason from operations o where ${OPEN} and ${those} order by o.wait_reason limit 1)`;
  // Sorted by the reason too, because PostgreSQL does not use the index for a null otherwise.
  const counted = (those: Sql) => sql`
    (select count(*)::integer as count, extract(epoch from now() - min(created_at))::float8 as "oldestSeconds"
    from (
      select o.created_at from operations o where ${OPEN} and ${those}
      order by o.wait_reason limit ${MOST_COUNTED}) as first) as counted`;
  return db.query<OpenSummary>(sql`
    with recursive states (state) as (values ('WAITING'), ('PLANNED'), ('IN_FLIGHT'), ('BLOCKED')),
    reasons as (
      select state, ${nextReason(sql`o.state = s.state and o.wait_reason is not null`)} as reason from states s
      union all
      select state, ${nextReason(sql`o.state = r.state and o.wait_reason > r.reason`)}
      from reasons r where reason is not null)
    select state, '' as reason, counted.* from states s
    cross join lateral ${counted(sql`o.state = s.state and o.wait_reason is null`)} where count > 0
    union all
    select state, reason, counted.* from reasons r
    cross join lateral ${counted(sql`o.state = r.state and o.wait_reason = r.reason`)} where count > 0`);
}

/** Age of the oldest operation that goes on by itself; 0 when there is none. */
export async function findOldestOpenSeconds(db: Queryable): Promise<number> {
  const row = await db.maybe<{ seconds: number }>(sql`
    select extract(epoch from now() - created_at)::float8 as seconds from operations
    where state in ('WAITING', 'PLANNED', 'IN_FLIGHT') order by created_at limit 1`);
  return row?.seconds ?? 0;
}
