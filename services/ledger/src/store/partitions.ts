import { sql, type Queryable } from "@wonrail/kit/db";
import { idTimeMs, idToUuid } from "@wonrail/kit/contract/ids";

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

/** Makes the partitions of the coming months, by the database's clock: what another makes too many stays. Two replicas may do so at once. */
export async function ensurePartitions(db: Queryable, aheadMs: number): Promise<number> {
  const { made } = await db.one<{ made: number }>(sql`
    select ensure_journal_partitions(now() + make_interval(secs => ${aheadMs / 1000})) as made`);
  return made;
}

/**
 * Whether the month of this request, which has left the journal, has taken an entry of it along. Undefined when the month's table is not in the schema any more, or
 * never was: what left is an operator's, and its name is all that is known of it.
 */
export async function hasLeft(
  db: Queryable,
  { orgId, requestId }: { orgId: string; requestId: string },
): Promise<boolean | undefined> {
  const month = new Date(idTimeMs(requestId)).toISOString().slice(0, 7);
  const table = `entries_${month.replace("-", "_")}`;
  const { present } = await db.one<{ present: boolean }>(
    sql`select to_regclass(${table}) is not null as present`,
  );
  if (!present) return undefined;
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (select from ${sql.identifier(table)} where org_id = ${idToUuid(orgId)} and id = ${idToUuid(requestId)}) as found`);
  return found;
}
