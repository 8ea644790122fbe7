import { sql, type Queryable } from "@wonrail/kit/db";
import { won, type Won } from "@wonrail/kit/contract/money";

/** Hands out a part of the day's limit: as much as is wanted, or the rest. */
export async function grantCharges(
  db: Queryable,
  day: number,
  wantedWon: bigint,
  limitWon: Won,
): Promise<Won> {
  await db.run(
    sql`insert into charge_days (day, granted_won) values (${day}, 0) on conflict (day) do nothing`,
  );
  const [granted] = await db.write<{ won: bigint }>(sql`
    with before as (select granted_won from charge_days where day = ${day} for update)
    update charge_days d
    set granted_won = d.granted_won + greatest(0, least(${wantedWon}::bigint, ${limitWon}::bigint - d.granted_won))
    from before where d.day = ${day}
    returning d.granted_won - before.granted_won as won`);
  return won(granted!.won);
}
