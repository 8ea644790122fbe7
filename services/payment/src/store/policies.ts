import { type Queryable, sql } from "@wonrail/kit/db";

/** An organisation's rules for money calls. Its operator sets them in auth. */
export interface Policy {
  orgId: string;
  /** For each wallet's transfers of one day. */
  dailyLimitWon: string;
  /** For all the organisation's charges of one day. */
  dailyChargeLimitWon: string;
  maxChargeWon: string;
  incentiveRateBps: number;
  version: bigint;
}

export async function findPolicy(db: Queryable, orgId: string): Promise<Policy | undefined> {
  const row = await db.maybe<{
    daily_limit_won: bigint;
    daily_charge_limit_won: bigint;
    max_charge_won: bigint;
    incentive_rate_bps: number;
    version: bigint;
  }>(sql`
    select daily_limit_won, daily_charge_limit_won, max_charge_won, incentive_rate_bps, version
    from policies where org_id = ${orgId}`);
  return (
    row && {
      orgId,
      dailyLimitWon: row.daily_limit_won.toString(),
      dailyChargeLimitWon: row.daily_charge_limit_won.toString(),
      maxChargeWon: row.max_charge_won.toString(),
      incentiveRateBps: row.incentive_rate_bps,
      version: row.version,
    }
  );
}

/** Keeps the newest version: events may repeat and may come in any order. */
export async function savePolicy(db: Queryable, policy: Policy): Promise<void> {
  await db.run(sql`
    insert into policies (org_id, daily_limit_won, daily_charge_limit_won, max_charge_won, incentive_rate_bps, version)
    values (${policy.orgId}, ${policy.dailyLimitWon}, ${policy.dailyChargeLimitWon}, ${policy.maxChargeWon},
      ${policy.incentiveRateBps}, ${policy.version})
    on conflict (org_id) do update set
      daily_limit_won = excluded.daily_limit_won, daily_charge_limit_won = excluded.daily_charge_limit_won,
      max_charge_won = excluded.max_charge_won, incentive_rate_bps = excluded.incentive_rate_bps,
      version = excluded.version, updated_at = now()
    where policies.version < excluded.version`);
}

/** Replaces the policy that an event left by auth's own answer, unless another event changed it meanwhile. */
export async function correctPolicy(db: Queryable, seen: Policy, answered: Policy): Promise<void> {
  await db.run(sql`
    update policies set daily_limit_won = ${answered.dailyLimitWon},
      daily_charge_limit_won = ${answered.dailyChargeLimitWon}, max_charge_won = ${answered.maxChargeWon},
      incentive_rate_bps = ${answered.incentiveRateBps},
      version = ${answered.version}, updated_at = now()
    where org_id = ${seen.orgId} and version = ${seen.version}`);
}
