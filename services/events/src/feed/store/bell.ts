import { type Queryable, sql } from "@wonrail/kit/db";

export const CHANNEL = "events_stored";

export async function notify(db: Queryable, payload: string): Promise<void> {
  await db.run(sql`select pg_notify(${CHANNEL}, ${payload})`);
}
