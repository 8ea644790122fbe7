import { type Queryable, type Sql, sql } from "@wonrail/kit/db";

/** The last rebuild of the records. */
export interface RebuildState {
  rebuildId: bigint;
  operator: string;
  askedAt: Date;
  organisations: bigint;
  finishedAt: Date | null;
}

export function findLastRebuild(db: Queryable): Promise<RebuildState | undefined> {
  return db.maybe<RebuildState>(sql`
    select id as "rebuildId", operator, asked_at as "askedAt", organisations, finished_at as "finishedAt"
    from rebuilds order by id desc limit 1`);
}

/** Work under way. Numbers stop at 10,000. */
export interface Pending {
  pendingTransfers: number;
  /** When the oldest of them was made. */
  pendingSince: Date | null;
  pendingPayouts: number;
}

const MOST_COUNTED = 10_000;

export function countPending(db: Queryable): Promise<Pending> {
  const counted = (rows: Sql) =>
    sql`(select count(*)::integer from (${rows} limit ${MOST_COUNTED}) as counted)`;
  const transfers = sql`select created_at from transfers where status = 'PENDING' order by created_at`;
  return db.one<Pending>(sql`
    select ${counted(transfers)} as "pendingTransfers", (${transfers} limit 1) as "pendingSince",
      ${counted(sql`select from payouts where status = 'PENDING'`)} as "pendingPayouts"`);
}

/** A payout that a search found. */
export interface FoundPayout {
  orgId: string;
  payoutId: string;
  status: string;
  rowCount: number;
}

export function findPayouts(db: Queryable, payoutId: string, limit: number): Promise<FoundPayout[]> {
  return db.query<FoundPayout>(sql`
    select org_id as "orgId", payout_id as "payoutId", status, row_count as "rowCount"
    from payouts where payout_id = ${payoutId} limit ${limit}`);
}
