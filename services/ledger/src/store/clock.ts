import { named, sql, type Tx } from "@wonrail/kit/db";

/** One clock for all replicas. Asked after the locks are taken, so the times on one account's postings never run backwards. */
export async function readClock(tx: Tx): Promise<number> {
  const { now } = await tx.one<{ now: Date }>(named("clock_read", sql`select clock_timestamp() as now`));
  return now.getTime();
}
