import { type Queryable, sql } from "@wonrail/kit/db";

/** In seconds, as a block's time is. */
export async function findDatabaseTime(db: Queryable): Promise<bigint> {
  const { seconds } = await db.one<{ seconds: bigint }>(
    sql`select extract(epoch from now())::bigint as seconds`,
  );
  return seconds;
}
