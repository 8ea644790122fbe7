import { rawSql, sql, type Queryable, type Sql } from "@wonrail/kit/db";
import { LINES, type Violation } from "./checks";

/** What is said of each entry. */
export const ENTRY_INVARIANTS = {
  I2_entry_balance: "the postings of an entry are there, two or more, and sum to zero",
  I3_chain: "each posting goes on from the one before it",
};

/** Entries by the time of their ids; of those only the ones that were on their way for longer than this. */
export interface EntryRange {
  from: Date;
  until: Date | null;
  lateMs: number;
}

/** One entry, by its key: UUIDs. */
export interface EntryKey {
  orgId: string;
  entryId: string;
}

export interface EntryViolation extends Violation, EntryKey {
  invariant: keyof typeof ENTRY_INVARIANTS;
}

export interface EntriesRead {
  /** The accounts of their postings, and those of what they held. */
  touched: bigint[];
  violations: EntryViolation[];
}

/**
 * Costs what was posted then, not what is in the journal: organisations are found by the steps of an index, and the postings of an account are read as
 * the one range that they are, with the one before.
 */
export function readEntries(db: Queryable, range: EntryRange, limit: number): Promise<EntriesRead> {
  return read(
    db,
    {
      wanted: sql`
        orgs as (
          (select org_id from accounts order by org_id limit 1)
          union all
          select (select a.org_id from accounts a where a.org_id > o.org_id order by a.org_id limit 1) from orgs o where o.org_id is not null
        ), wanted as (
          select e.*
          from orgs o
          join lateral (
            select * from entries e where e.org_id = o.org_id and ${isOf(range, sql`e.id`, sql`e.posted_at`)}
          ) e on true
        )`,
      run: sql`0::bigint`,
      holders: sql`
        select h.account_number from orgs o join holds h on h.org_id = o.org_id and ${isOf(range, sql`h.id`, sql`h.placed_at`)}`,
    },
    limit,
  );
}

/**
 * These, from whatever times: what an account has between them is not read. Touched are the wallets of which their answers tell, too, where those
 * are not told by the postings: on which a hold was placed or voided.
 */
export function readEntriesOf(db: Queryable, keys: EntryKey[]): Promise<EntriesRead> {
  const orgIds = keys.map(({ orgId }) => orgId);
  const ids = keys.map(({ entryId }) => entryId);
  return read(
    db,
    {
      wanted: sql`
        wanted as materialized (
          select e.* from unnest(${orgIds}::uuid[], ${ids}::uuid[]) as w (org_id, id)
          cross join lateral (select * from entries e where e.org_id = w.org_id and e.id = w.id offset 0) e
        )`,
      run: sql`l.sequence`,
      holders: sql`
        select a.number from wanted e
        cross join lateral jsonb_array_elements(e.detail -> 'balances') b
        join accounts a on a.org_id = e.org_id and a.id = right(b ->> 0, 32)::uuid`,
    },
    keys.length * Object.keys(ENTRY_INVARIANTS).length,
  );
}

interface Wanted {
  wanted: Sql;
  /** Lines of an account that have the same are read as one range. */
  run: Sql;
  holders: Sql;
}

/**
 * Nobody can tell the planner how many rows these steps give, so it sorts and merges what comes in order or fits into a hash table. An account's lines come from the
 * index in their order, and a few of them at a time, so a bitmap of them is of no use either. Together that was a third of what a slice took.
 */
async function takeAsItComes(connection: Queryable): Promise<void> {
  for (const setting of ["enable_mergejoin", "enable_bitmapscan", "enable_sort"])
    await connection.run(rawSql(`set local ${setting} = off`));
}

/** In one statement, since all of it is about the same rows. The "offset 0" keeps that from being planned as a join, which may read the whole journal. */
async function read(db: Queryable, { wanted, run, holders }: Wanted, limit: number): Promise<EntriesRead> {
  await takeAsItComes(db);
  return db.one<EntriesRead>(
    sql`
      with recursive ${wanted}, refs as materialized (
        select e.org_id, e.id, l.number, l.sequence, ${run} as run
        from wanted e cross join lateral unnest(e.account_numbers, e.sequences) as l (number, sequence)
      ), touched as materialized (
        select number, run, min(sequence) as first, max(sequence) as last from refs group by number, run
      ), lines as (
        select l.*, t.run
        from touched t
        cross join lateral (
          select *, lag(last_sequence) over w as before_sequence, lag(balance_after_won) over w as before_won
          from ${LINES} l where account_number = t.number and sequence <= t.last and last_sequence >= t.first - 1
          window w as (order by sequence) offset 0
        ) l
      ), named as (
        select r.org_id, r.id, r.number, l.sequence, l.entry_id, l.amount_won, case when l.sequence = 1 then l.balance_after_won <> l.amount_won
          else l.before_won + l.amount_won <> l.balance_after_won or l.before_sequence <> l.sequence - 1
            or (l.before_sequence is null and exists (
              select from ${LINES} o where o.account_number = l.account_number and o.sequence < l.sequence)) end as broken
        from refs r
        left join lines l on l.account_number = r.number and l.run = r.run and l.sequence = r.sequence and l.entry_id = r.id
      ), entries_read as (
        select org_id, id, count(*) as named, count(entry_id) as found, coalesce(sum(amount_won), 0) as sum_won,
          min(number) filter (where broken) as broken_number, min(sequence) filter (where broken) as broken_sequence
        from named group by org_id, id
      ), violations as (
        select 'I2_entry_balance' as invariant, org_id as "orgId", id as "entryId", id::text as what,
          'postings ' || found || ' of ' || named || ', sum ' || sum_won as details
        from entries_read where found <> named or named < 2 or sum_won <> 0
        union all
        select 'I3_chain', e.org_id, e.id, a.id::text, 'posting ' || broken_sequence || ' does not follow ' || (broken_sequence - 1)
        from entries_read e join accounts a on a.number = broken_number
        limit ${limit}
      ), holders (account_number) as (${holders})
      select array(select number from touched union select account_number from holders) as touched,
        (select coalesce(jsonb_agg(v), '[]') from violations v) as violations`,
  );
}

function isOf({ from, until, lateMs }: EntryRange, id: Sql, at: Sql): Sql {
  return sql`
    ${id} >= uuid_from(${from}::timestamptz)
      and ${id} < coalesce(uuid_from(${until}::timestamptz), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      and (${lateMs}::integer = 0 or uuid_from(${at} - make_interval(secs => ${lateMs}::integer / 1000.0)) > ${id})`;
}
