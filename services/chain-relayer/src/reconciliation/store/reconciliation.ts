import { type Queryable, sql } from "@wonrail/kit/db";

export interface Reconciliation {
  /** Null before the first. */
  startedAt: Date | null;
  finishedAt: Date | null;
  blockNumber: bigint | null;
}

/**
 * A long comparison is followed by a pause of this many times its duration, up to a number of
 * intervals.
 */
const REST = 40;
const LONGEST_REST = 4;

/**
 * Returns true for one replica per interval. A start time in the future stems from before the
 * database's clock was set back, and does not block.
 */
export async function claimReconciliation(db: Queryable, intervalMs: number): Promise<boolean> {
  const interval = sql`make_interval(secs => ${intervalMs / 1000})`;
  const claimed = await db.run(sql`
    update reconciliation set started_at = now()
    where started_at > now() + ${interval} or started_at <= now() - ${interval}
      and (finished_at is null or finished_at < started_at
        or now() - finished_at >= ${REST} * (finished_at - started_at)
        or now() - finished_at >= ${LONGEST_REST} * ${interval})`);
  return claimed === 1;
}

/** The supply that a complete comparison found, in token units. */
export interface Supply {
  blockNumber: bigint;
  supplyUnits: bigint;
  /** The part of it on our wallets. */
  walletUnits: bigint;
}

/** Stores the end of a complete comparison. The last one of an hour is the hour's point. */
export async function finishReconciliation(
  db: Queryable,
  { blockNumber, supplyUnits, walletUnits }: Supply,
): Promise<void> {
  await db.run(sql`
    with finished as (update reconciliation set finished_at = now(), block_number = ${blockNumber})
    insert into supply_points (hour, compared_at, block_number, supply_units, wallet_units)
    values (date_trunc('hour', now()), now(), ${blockNumber}, ${supplyUnits}, ${walletUnits})
    on conflict (hour) do update set compared_at = excluded.compared_at, block_number = excluded.block_number,
      supply_units = excluded.supply_units, wallet_units = excluded.wallet_units`);
  await db.run(sql`delete from supply_points where hour < now() - interval '32 days'`);
}

export interface SupplyPoint extends Supply {
  comparedAt: Date;
}

/** The last hours with a complete comparison, oldest first. */
export async function listSupplyPoints(db: Queryable, hours: number): Promise<SupplyPoint[]> {
  return db.query<SupplyPoint>(sql`
    select compared_at as "comparedAt", block_number as "blockNumber", supply_units as "supplyUnits",
      wallet_units as "walletUnits"
    from supply_points where hour > date_trunc('hour', now()) - make_interval(hours => ${hours})
    order by hour`);
}

export async function findReconciliation(db: Queryable): Promise<Reconciliation> {
  return db.one<Reconciliation>(sql`
    select case when isfinite(started_at) then started_at end as "startedAt", finished_at as "finishedAt",
      block_number as "blockNumber"
    from reconciliation`);
}
