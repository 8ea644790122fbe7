import { type Queryable, sql } from "@wonrail/kit/db";

export interface Reconciliation {
  finishedAt: Date | null;
  blockNumber: bigint | null;
}

/**
 * A long comparison is followed by a pause of this many times its duration, up to a number of
 * intervals.
 */
const REST = 40;
const LONGEST_REST = 4;

/**
 * Returns true for one replica per interval. A start time in the future stems from before the
 * database's clock was set back, and does not block.
 */
export async function claimReconciliation(db: Queryable, intervalMs: number): Promise<boolean> {
  const interval = sql`make_interval(secs => ${intervalMs / 1000})`;
  const claimed = await db.run(sql`
    update reconciliation set started_at = now()
    where started_at > now() + ${interval} or started_at <= now() - ${interval}
      and (finished_at is null or finished_at < started_at
        or now() - finished_at >= ${REST} * (finished_at - started_at)
        or now() - finished_at >= ${LONGEST_REST} * ${interval})`);
  return claimed === 1;
}

export async function finishReconciliation(db: Queryable, blockNumber: bigint): Promise<void> {
  await db.run(sql`update reconciliation set finished_at = now(), block_number = ${blockNumber}`);
}

export async function findReconciliation(db: Queryable): Promise<Reconciliation> {
  const row = await db.one<{ finished_at: Date | null; block_number: bigint | null }>(
    sql`select finished_at, block_number from reconciliation`,
  );
  return { finishedAt: row.finished_at, blockNumber: row.block_number };
}
