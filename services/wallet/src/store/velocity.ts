import { sql, type Tx } from "@wonrail/kit/db";
import { type Won, won } from "@wonrail/kit/contract/money";

export interface Velocity {
  /** The database's time decides the hour: replicas may have different clocks. */
  nowMs: number;
  used: Map<string, Won>;
}

/**
 * Locks the amounts signed in this hour for one or more scopes, in one order, until the transaction
 * ends.
 */
export async function lockVelocity(tx: Tx, scopes: string[]): Promise<Velocity> {
  const ordered = sql.array([...new Set(scopes)].sort(), "text[]");
  await tx.run(sql`
    insert into velocity (scope, hour, amount_won)
    select scope, date_trunc('hour', now()), 0 from unnest(${ordered}) as scope order by scope
    on conflict (scope, hour) do nothing`);
  const rows = await tx.query<{ scope: string; amount_won: bigint; now: Date }>(sql`
    select scope, amount_won, now() from velocity
    where scope = any(${ordered}) and hour = date_trunc('hour', now()) order by scope for update`);
  const used = new Map(rows.map((row) => [row.scope, won(row.amount_won)]));
  return { nowMs: rows[0]!.now.getTime(), used };
}

export async function saveVelocity(tx: Tx, used: Map<string, Won>): Promise<void> {
  await tx.run(sql`
    update velocity set amount_won = spent.amount_won
    from unnest(${[...used.keys()]}::text[], ${[...used.values()]}::bigint[]) as spent (scope, amount_won)
    where velocity.scope = spent.scope and velocity.hour = date_trunc('hour', now())`);
}

/** Hours that no limit reads any more. */
export async function deleteOldVelocity(tx: Tx, limit: number): Promise<number> {
  return tx.run(sql`
    delete from velocity where (scope, hour) in (
      select scope, hour from velocity where hour < now() - interval '2 days'
      order by hour limit ${limit} for update skip locked)`);
}
