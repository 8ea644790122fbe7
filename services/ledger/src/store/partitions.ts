import { sql, type Queryable } from "@wonrail/kit/db";

/** The times for which the journal has partitions. */
export interface JournalWindow {
  fromMs: number;
  untilMs: number;
}

export async function readJournalWindow(db: Queryable): Promise<JournalWindow> {
  const row = await db.one<{ from_at: Date; until_at: Date }>(sql`
    select min(from_at) as from_at, max(until_at) as until_at from journal_partitions`);
  return { fromMs: row.from_at.getTime(), untilMs: row.until_at.getTime() };
}

/**
 * Creates the partitions of the coming months, by the database's clock. Two replicas may do so at
 * once.
 */
export async function ensurePartitions(db: Queryable, aheadMs: number): Promise<number> {
  const { made } = await db.one<{ made: number }>(sql`
    select ensure_journal_partitions(now() + make_interval(secs => ${aheadMs / 1000})) as made`);
  return made;
}
