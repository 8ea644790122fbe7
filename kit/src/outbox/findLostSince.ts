import { sql, type Queryable } from "../db";

/** Kafka stores an event some time after its commit. */
const MARGIN_MS = 600_000;

/** The time after which a restored database may have lost events that Kafka still has. */
export async function findLostSince(db: Queryable): Promise<Date> {
  const { newest } = await db.one<{ newest: Date | null }>(
    sql`select max(occurred_at) as newest from outbox`,
  );
  return new Date(Math.max(0, (newest?.getTime() ?? 0) - MARGIN_MS));
}
