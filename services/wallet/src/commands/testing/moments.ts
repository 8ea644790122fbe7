import { setTimeout as sleep } from "node:timers/promises";
import { type Database, sql } from "@wonrail/kit/db";

/**
 * Waits until this many transactions wait for a lock. The lock's holder may be idle a little
 * longer.
 */
export async function untilWaiting(db: Database, transactions: number): Promise<void> {
  for (const endMs = Date.now() + 8_000; ; await sleep(10)) {
    const { count } = await db.one<{ count: bigint }>(sql`
      select count(*) as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    if (Number(count) === transactions) return;
    if (Date.now() > endMs) throw new Error(`${count} wait instead of ${transactions}`);
  }
}

/** Waits for the next hour of the velocity sums when the present one ends too soon. */
export async function stayWithinOneHour(db: Database, forMs: number): Promise<void> {
  const { left_ms: leftMs } = await db.one<{ left_ms: number }>(sql`
    select (extract(epoch from date_trunc('hour', now()) + interval '1 hour' - now()) * 1000)::float8 as left_ms`);
  if (leftMs < forMs) await sleep(leftMs);
}

/** Moves all times of the organisation's wallets so far back that every request must have ended. */
export async function age(db: Database, orgId: string): Promise<void> {
  await db.run(sql`
    update wallets set created_at = created_at - interval '1 minute',
      updated_at = now() - interval '1 minute', closing_since = closing_since - interval '1 minute'
    where org_id = ${orgId}`);
}
