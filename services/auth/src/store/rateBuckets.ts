import { sql, type Tx } from "@wonrail/kit/db";
import { idToUuid, uuidToId, type Id } from "@wonrail/kit/contract/ids";
import { type RateBucket, type RateRule } from "../domain/rates";

export interface LockedBucket {
  orgId: Id<"org">;
  bucket: RateBucket;
  rule: RateRule;
  now: Date;
}

/** Locks the buckets of the existing organisations, in id order. Creates absent buckets, full. */
export async function lockRateBuckets(tx: Tx, orgIds: Id<"org">[]): Promise<LockedBucket[]> {
  const ids = sql.array(orgIds.map(idToUuid), "uuid[]");
  await tx.run(sql`
    insert into rate_buckets (org_id, millitokens, refilled_at)
    select org_id, rate_burst * 1000::bigint, clock_timestamp() from organisations
    where org_id = any(${ids}) and not exists (select from rate_buckets b where b.org_id = organisations.org_id)
    order by org_id
    on conflict do nothing`);
  const rows = await tx.query<BucketRow>(sql`
    with locked as materialized (
      select org_id, millitokens, refilled_at from rate_buckets where org_id = any(${ids}) order by org_id for update
    )
    select locked.*, o.rate_per_second, o.rate_burst, clock_timestamp() as now
    from locked join organisations o using (org_id)`);
  return rows.map(fromRow);
}

export async function updateRateBuckets(
  tx: Tx,
  buckets: { orgId: Id<"org">; bucket: RateBucket }[],
): Promise<void> {
  await tx.run(sql`
    update rate_buckets b set millitokens = n.millitokens, refilled_at = n.refilled_at
    from unnest(
      ${sql.array(
        buckets.map(({ orgId }) => idToUuid(orgId)),
        "uuid[]",
      )},
      ${sql.array(
        buckets.map(({ bucket }) => bucket.millitokens),
        "bigint[]",
      )},
      ${sql.array(
        buckets.map(({ bucket }) => bucket.refilledAt),
        "timestamptz[]",
      )}
    ) as n (org_id, millitokens, refilled_at)
    where b.org_id = n.org_id`);
}

interface BucketRow {
  org_id: string;
  millitokens: bigint;
  refilled_at: Date;
  rate_per_second: number;
  rate_burst: number;
  now: Date;
}

function fromRow(row: BucketRow): LockedBucket {
  return {
    orgId: uuidToId("org", row.org_id),
    bucket: { millitokens: row.millitokens, refilledAt: row.refilled_at },
    rule: { perSecond: row.rate_per_second, burst: row.rate_burst },
    now: row.now,
  };
}
