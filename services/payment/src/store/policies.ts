import { type Queryable, sql } from "@wonrail/kit/db";

/** What an organisation's operator has decided that money calls need. */
export interface Policy {
  orgId: string;
  dailyLimitWon: string;
  incentiveRateBps: number;
  version: bigint;
}

export async function findPolicy(db: Queryable, orgId: string): Promise<Policy | undefined> {
  const row = await db.maybe<{ daily_limit_won: bigint; incentive_rate_bps: number; version: bigint }>(
    sql`select daily_limit_won, incentive_rate_bps, version from policies where org_id = ${orgId}`,
  );
  return (
    row && {
      orgId,
      dailyLimitWon: row.daily_limit_won.toString(),
      incentiveRateBps: row.incentive_rate_bps,
      version: row.version,
    }
  );
}

/** Events may come again, and in any order: the newest version stays. */
export async function savePolicy(db: Queryable, policy: Policy): Promise<void> {
  await db.run(sql`
    insert into policies (org_id, daily_limit_won, incentive_rate_bps, version)
    values (${policy.orgId}, ${policy.dailyLimitWon}, ${policy.incentiveRateBps}, ${policy.version})
    on conflict (org_id) do update set
      daily_limit_won = excluded.daily_limit_won, incentive_rate_bps = excluded.incentive_rate_bps,
      version = excluded.version, updated_at = now()
    where policies.version < excluded.version`);
}

/** Puts auth's own word in the place of what an event has said. Who finds another event's word there by now leaves it. */
export async function correctPolicy(db: Queryable, seen: Policy, told: Policy): Promise<void> {
  await db.run(sql`
    update policies set daily_limit_won = ${told.dailyLimitWon}, incentive_rate_bps = ${told.incentiveRateBps},
      version = ${told.version}, updated_at = now()
    where org_id = ${seen.orgId} and version = ${seen.version}`);
}
