import { type Queryable, sql } from "@wonrail/kit/db";
import { LONGEST_WAIT, REFUSED } from "./plannedOperations";

const IS_LONG = sql`> now() + interval '15 minutes'`;
/** An old unseen hash is looked up once a day. */
const LONGEST_LOOK = sql`interval '25 hours'`;

/**
 * Moves retries to now that only a database clock set back can explain, and returns their number.
 * An index finds each, so the usual case costs nothing. Operations that were never sent need no
 * help.
 */
export async function clampFutureRetries(db: Queryable): Promise<number> {
  const [row] = await db.write<{ count: bigint }>(sql`
    with sent_before as (
      update operations set retry_at = now()
      where state = 'PLANNED' and attempts > 0 and not ${REFUSED} and retry_at ${IS_LONG}
        and retry_at > now() + ${LONGEST_WAIT} returning 1),
    refused as (
      update operations set retry_at = now() where state = 'PLANNED' and ${REFUSED} and retry_at ${IS_LONG} returning 1),
    seen as (
      update deposits set retry_at = now() where state = 'SEEN' and retry_at ${IS_LONG} returning 1),
    presented as (
      update x402_payments set retry_at = now() where state = 'PLANNED' and retry_at ${IS_LONG} returning 1),
    started as (
      update records set run_at = now() where run = 'STARTED' and run_at ${IS_LONG} returning 1),
    watched as (
      update records set run_at = now() where run = 'WATCHED' and run_at > now() + ${LONGEST_LOOK} returning 1),
    ended as (
      select from sent_before union all select from refused union all select from seen
      union all select from presented union all select from started union all select from watched)
    select count(*) from ended`);
  return Number(row!.count);
}
