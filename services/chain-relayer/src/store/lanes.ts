import { type Queryable, sql } from "@wonrail/kit/db";

/** False when there is no such lane. */
export async function setLanePause(db: Queryable, orgId: string, reason: string | null): Promise<boolean> {
  return (await db.run(sql`update lanes set paused_reason = ${reason} where org_id = ${orgId}`)) === 1;
}

export async function listLanes(db: Queryable): Promise<{ orgId: string; pausedReason: string | null }[]> {
  const rows = await db.query<{ org_id: string; paused_reason: string | null }>(
    sql`select org_id, paused_reason from lanes order by org_id`,
  );
  return rows.map((row) => ({ orgId: row.org_id, pausedReason: row.paused_reason }));
}

/** Lets all others have their turn before these. */
export async function noteServed(db: Queryable, orgIds: string[]): Promise<void> {
  await db.run(sql`update lanes set served_at = clock_timestamp() where org_id = any(${orgIds}::text[])`);
}
