import { type Queryable, type Sql, sql } from "@wonrail/kit/db";

/** False when there is no such lane. */
export async function setLanePause(db: Queryable, orgId: string, reason: string | null): Promise<boolean> {
  return (await db.run(sql`update lanes set paused_reason = ${reason} where org_id = ${orgId}`)) === 1;
}

export interface Lane {
  orgId: string;
  pausedReason: string | null;
  /** Entries that are to become operations when it comes to them. */
  shelved: number;
}

export async function listLanes(db: Queryable): Promise<Lane[]> {
  return db.query<Lane>(sql`
    select org_id as "orgId", paused_reason as "pausedReason",
      (select coalesce(sum(s.entries), 0)::float8 from shelved_entries s where s.org_id = lanes.org_id) as shelved
    from lanes order by org_id`);
}

export async function countPausedLanes(db: Queryable): Promise<number> {
  const { count } = await db.one<{ count: bigint }>(
    sql`select count(*) from lanes where paused_reason is not null`,
  );
  return Number(count);
}

export interface Ages {
  oldestSeconds: number;
  /** Of what goes on only when somebody resumes its lane. */
  pausedSeconds: number;
}

/** Of the oldest of each lane, which came when `since` says; 0 where there is none. */
export function agesOf(since: Sql, isPaused: Sql = sql`lanes.paused_reason is not null`): Sql {
  const ageOf = (those: Sql) =>
    sql`coalesce(extract(epoch from now() - min(${since}) filter (where ${those})), 0)::float8`;
  return sql`${ageOf(sql`not (${isPaused})`)} as "oldestSeconds", ${ageOf(isPaused)} as "pausedSeconds"`;
}

/** Lets all others have their turn before these. */
export async function noteServed(db: Queryable, orgIds: string[]): Promise<void> {
  await db.run(sql`update lanes set served_at = clock_timestamp() where org_id = any(${orgIds}::text[])`);
}
