import { sql, type Queryable } from "@wonrail/kit/db";
import { won, type Won } from "@wonrail/kit/contract/money";

/** Entries are counted once they can no longer be late: so long after the end of their minute. */
const LATE_S = 30;
const MINUTES_AT_ONCE = 60;

/**
 * Counts the minutes since the last counted one, of one day at most, and the last hour at first. Two replicas may count the same
 * minute: they count the same rows. Returns the number of counted minutes.
 */
export function countMinutes(db: Queryable): Promise<number> {
  return db.run(sql`
    insert into traffic_minutes (minute, entries, moved_won)
    select m.minute, e.entries, p.moved_won
    from (
      select minute from generate_series(
        greatest(
          coalesce(
            (select max(minute) from traffic_minutes) + interval '1 minute',
            date_trunc('minute', now()) - interval '61 minutes'),
          date_trunc('minute', now()) - interval '1 day'),
        date_trunc('minute', now() - make_interval(secs => ${LATE_S})) - interval '1 minute',
        interval '1 minute') as minute
      order by minute limit ${MINUTES_AT_ONCE}) m
    cross join lateral (
      select count(*) as entries from entries
      where id >= uuid_from(m.minute) and id < uuid_from(m.minute + interval '1 minute') and code is null) e
    cross join lateral (
      select coalesce(sum(amount_won) filter (where amount_won > 0), 0) as moved_won from postings
      where entry_id >= uuid_from(m.minute) and entry_id < uuid_from(m.minute + interval '1 minute')) p
    on conflict do nothing`);
}

export async function deleteOldMinutes(db: Queryable): Promise<void> {
  await db.run(sql`delete from traffic_minutes where minute < now() - interval '2 days'`);
}

/** The traffic of a time that ends with the last counted minute. */
export interface Traffic {
  entries: bigint;
  movedWon: Won;
  /** The counted part of the time. */
  seconds: number;
}

export interface CountedTraffic {
  /** Null before the first counted minute. */
  countedUntil: Date | null;
  minute: Traffic;
  hour: Traffic;
  day: Traffic;
}

export async function readTraffic(db: Queryable): Promise<CountedTraffic> {
  const row = await db.one<
    Record<`${"minute" | "hour" | "day"}${"Entries" | "Won" | "Seconds"}`, bigint> & {
      countedUntil: Date | null;
    }
  >(sql`
    with last as (select max(minute) as minute from traffic_minutes),
    counted as (
      select t.* from last cross join lateral (
        select * from traffic_minutes t where t.minute > last.minute - interval '1 day') t)
    select (select minute + interval '1 minute' from last) as "countedUntil",
      ${sums("minute", "1 minute")}, ${sums("hour", "1 hour")}, ${sums("day", "1 day")}
    from counted`);
  const trafficOf = (span: "minute" | "hour" | "day"): Traffic => ({
    entries: row[`${span}Entries`],
    movedWon: won(row[`${span}Won`]),
    seconds: Number(row[`${span}Seconds`]),
  });
  return {
    countedUntil: row.countedUntil,
    minute: trafficOf("minute"),
    hour: trafficOf("hour"),
    day: trafficOf("day"),
  };
}

function sums(span: string, interval: string) {
  const within = sql`filter (where minute > (select minute from last) - ${interval}::interval)`;
  return sql`
    coalesce(sum(entries) ${within}, 0)::bigint as ${sql.identifier(`${span}Entries`)},
    coalesce(sum(moved_won) ${within}, 0)::bigint as ${sql.identifier(`${span}Won`)},
    60 * count(*) ${within} as ${sql.identifier(`${span}Seconds`)}`;
}

export interface TrafficMinute {
  minute: Date;
  entries: bigint;
  movedWon: Won;
}

/** The last counted minutes, oldest first. */
export async function listMinutes(db: Queryable, limit: number): Promise<TrafficMinute[]> {
  const rows = await db.query<{ minute: Date; entries: bigint; moved_won: bigint }>(sql`
    select minute, entries, moved_won from traffic_minutes order by minute desc limit ${limit}`);
  return rows
    .map(({ minute, entries, moved_won }) => ({ minute, entries, movedWon: won(moved_won) }))
    .reverse();
}
