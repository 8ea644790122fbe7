import { rawSql, sql, type Queryable, type Sql } from "@wonrail/kit/db";
import type { IntentKind } from "../domain/types";
import { intentKinds } from "./codes";

/** What must always be true of the tables, each as a statement that gives the rows for which it is not. */
export interface Check {
  /** As in the list of invariants: I1 conservation, I2 entry balance, I3 materialised balance, I4 once, I6 holds. */
  invariant: string;
  says: string;
  violations: Sql;
}

export interface Violation {
  what: string;
  details: string;
}

/** Compiling takes longer than most checks; the whole journal is grouped and sorted, which should not go to disk sooner than it must. */
export async function prepareChecks(connection: Queryable): Promise<void> {
  await connection.run(rawSql("set local jit = off"));
  await connection.run(rawSql("set local work_mem = '64MB'"));
}

/**
 * Before the first question to the journal, for who looks must not have waited in between: a month that leaves is gone at once, and what is left in its
 * place is seen by younger snapshots only.
 */
export async function lockJournal(connection: Queryable): Promise<void> {
  await connection.run(rawSql("lock table entries, postings in access share mode"));
}

/** Whether this connection is the one that goes through all accounts now. It is until it closes. */
export async function tryLockAccounts(connection: Queryable, schema: string): Promise<boolean> {
  const { locked } = await connection.one<{ locked: boolean }>(sql`
    select pg_try_advisory_lock(hashtext('verify accounts'), hashtext(${schema})) as locked`);
  return locked;
}

export async function findViolations(db: Queryable, check: Check, limit: number): Promise<Violation[]> {
  return db.query<Violation>(sql`select what, details from (${check.violations}) v limit ${limit}`);
}

/** The chains of the accounts: the journal's lines, and in their places the runs of those that have left with their month. */
export const LINES = sql`(
  select account_number, sequence, sequence as last_sequence, entry_id, amount_won, balance_after_won from postings
  union all
  select account_number, first_sequence, last_sequence, null, amount_won, balance_after_won from detached_postings)`;

/** Of the accounts alone, of which each reads all. */
export const ACCOUNT_CHECKS: Check[] = [
  {
    invariant: "I1_conservation",
    says: "the accounts of an organisation add up to zero",
    violations: sql`
      select org_id::text as what, 'the sum is ' || sum(balance_won) as details
      from accounts group by org_id having sum(balance_won) <> 0`,
  },
  {
    invariant: "I3_floor",
    says: "no wallet is below what it holds",
    violations: sql`
      select id::text as what, 'balance ' || balance_won || ', held ' || held_won as details
      from accounts where type <= 3 and (held_won < 0 or balance_won < held_won)`,
  },
  {
    invariant: "I3_held",
    says: "what an account holds is the sum of its open holds",
    violations: sql`
      select a.id::text as what, 'held ' || a.held_won || ', open holds ' || coalesce(h.amount_won, 0) as details
      from accounts a
      left join (select account_number, sum(amount_won) as amount_won from holds where state = 'open' group by account_number) h
        on h.account_number = a.number
      where a.held_won <> coalesce(h.amount_won, 0)`,
  },
  {
    invariant: "I6_holds",
    says: "a closed account has no open hold",
    violations: sql`
      select h.id::text as what, 'open on a closed account' as details
      from holds h join accounts a on a.number = h.account_number where h.state = 'open' and a.closed_at is not null`,
  },
];

/** What is older has left with its month. */
const JOURNAL_BEGINS = sql`(select uuid_from(min(from_at)) from journal_partitions)`;

/** What is posted of some kinds. Compared by full joins, which are never done row by row, whatever is known of the tables. */
function postedAs(...kinds: IntentKind[]): Sql {
  return sql`
    select org_id, id, kind, posted_at from entries
    where kind = any(${kinds.map((kind) => intentKinds.toCode(kind))}::smallint[]) and code is null`;
}

/** Rows of another table, each under the id of the entry that made it, and what it is about. */
interface RowsOfEntries {
  rows: Sql;
  withoutEntry: string;
  withoutRow: string;
}

function eachHasItsRow(kind: IntentKind, { rows, withoutEntry, withoutRow }: RowsOfEntries): Sql {
  return sql`
    select coalesce(r.what, id::text) as what,
      case when e.kind is null then ${withoutEntry}::text else ${withoutRow}::text end as details
    from (${postedAs(kind)}) e
    full join (${rows}) r using (org_id, id)
    where r.what is null or (e.kind is null and id >= ${JOURNAL_BEGINS})`;
}

/** Of everything that is in the tables. Reads the whole journal. */
export const JOURNAL_CHECKS: Check[] = [
  {
    invariant: "I2_entry_balance",
    says: "the postings of an entry are two or more and sum to zero",
    violations: sql`
      select entry_id::text as what, 'postings ' || count(*) || ', sum ' || sum(amount_won) as details
      from postings group by entry_id having sum(amount_won) <> 0 or count(*) < 2`,
  },
  {
    invariant: "I2_entry_named",
    says: "what an entry names as its postings is there",
    violations: sql`
      select e.id::text as what, 'account ' || l.number || ', posting ' || l.sequence || ' is missing' as details
      from entries e cross join lateral unnest(e.account_numbers, e.sequences) as l (number, sequence)
      left join postings p on p.account_number = l.number and p.sequence = l.sequence and p.entry_id = e.id
      where p.entry_id is null`,
  },
  {
    invariant: "I3_chain",
    says: "each posting goes on from the one before it",
    violations: sql`
      select account_number || '/' || sequence as what, 'comes to ' || balance_after_won || ' after ' || coalesce(before, 0) as details
      from (
        select account_number, sequence, amount_won, balance_after_won,
          lag(balance_after_won) over w as before, lag(last_sequence) over w as before_sequence
        from ${LINES} l window w as (partition by account_number order by sequence)
      ) p
      where (before_sequence is not null and (sequence <> before_sequence + 1 or balance_after_won <> before + amount_won))
        or (sequence = 1 and balance_after_won <> amount_won)`,
  },
  {
    invariant: "I3_balance",
    says: "an account's balance and sequence are those of its last posting",
    violations: sql`
      select a.id::text as what, 'the account says ' || a.balance_won || ' at ' || a.sequence as details
      from accounts a
      left join (select account_number, max(last_sequence) as sequence from ${LINES} l group by account_number) l on l.account_number = a.number
      left join ${LINES} p on p.account_number = a.number and p.last_sequence = l.sequence
      where l.sequence is not null and (l.sequence <> a.sequence or p.balance_after_won <> a.balance_won)`,
  },
  {
    invariant: "I3_sum",
    says: "an account's balance is the sum of its postings, numbered without a gap",
    violations: sql`
      select a.id::text as what,
        'balance ' || a.balance_won || ', postings ' || coalesce(s.amount_won, 0) || ', sequence ' || a.sequence || ', postings '
          || coalesce(s.postings, 0) as details
      from accounts a
      left join (
        select account_number, sum(amount_won) as amount_won, sum(last_sequence - sequence + 1) as postings,
          min(sequence) as first, max(last_sequence) as last
        from ${LINES} l group by account_number
      ) s on s.account_number = a.number
      left join ${LINES} f on f.account_number = a.number and f.sequence = s.first
      where coalesce(s.last, 0) <> a.sequence and s.last is not null
        or s.postings <> s.last - s.first + 1
        or (s.first = 1 and s.amount_won <> a.balance_won)
        or s.amount_won + f.balance_after_won - f.amount_won <> a.balance_won
        or (s.last is null and a.sequence = 0 and a.balance_won <> 0)`,
  },
  {
    invariant: "I2_no_strays",
    says: "every posting belongs to an entry that names it",
    violations: sql`
      select 'journal' as what, 'postings ' || p.count || ', named by entries ' || e.count as details
      from (select count(*) from postings) p,
        (select coalesce(sum(cardinality(account_numbers)), 0)::bigint as count from entries) e
      where p.count <> e.count`,
  },
  {
    // A charge can be cancelled for 30 days, so what is in the journal is of one that is there, too, or is older by less than twice that.
    invariant: "I4_charges",
    says: "what is posted as cancelled is what charges have been cancelled",
    violations: sql`
      select org_id::text as what, 'cancelled ' || coalesce(c.cancelled_won, 0) || ', posted ' || coalesce(p.amount_won, 0) as details
      from (select org_id, sum(amount_won) as amount_won from postings where type = 3 and amount_won > 0 group by org_id) p
      full join (
        select org_id, sum(cancelled_won) as cancelled_won, sum(cancelled_won) filter (where charge_id >= ${JOURNAL_BEGINS}) as kept_won
        from cancelled_charges
        where charge_id >= (select uuid_from(min(from_at) - interval '62 days') from journal_partitions)
        group by org_id
      ) c using (org_id)
      where coalesce(p.amount_won, 0) not between coalesce(c.kept_won, 0) and coalesce(c.cancelled_won, 0)`,
  },
  {
    invariant: "I4_payments",
    says: "a cancelled payment was cancelled by an entry that is there, and each such entry cancelled one",
    violations: eachHasItsRow("cancelPayment", {
      rows: sql`select org_id, cancel_id as id, payment_id::text as what from cancelled_payments`,
      withoutEntry: "the cancellation is not in the journal",
      withoutRow: "cancels no payment",
    }),
  },
  {
    invariant: "I4_deposits",
    says: "a credited log was credited by an entry that is there, and each such entry credited one",
    violations: eachHasItsRow("creditExternal", {
      rows: sql`select org_id, entry_id as id, chain_log_id as what from credits`,
      withoutEntry: "the credit is not in the journal",
      withoutRow: "credits no log",
    }),
  },
  {
    invariant: "I6_placed",
    says: "a hold was placed by an entry that is there, and each such entry placed one",
    violations: eachHasItsRow("placeHold", {
      rows: sql`select org_id, id, id::text as what from holds`,
      withoutEntry: "was placed by no entry",
      withoutRow: "places no hold",
    }),
  },
  {
    // An entry does not name the hold that it ends; both have the time of their batch. The entry is under an id of the hold's month, or of a later one.
    invariant: "I6_once",
    says: "a hold is posted or voided once, by an entry that is there",
    violations: sql`
      select org_id::text as what, 'at ' || at || ' holds that were ' || state || ': ' || coalesce(h.holds, 0) || ', entries ' || coalesce(e.entries, 0) as details
      from (
        select org_id, posted_at as at, case kind when ${intentKinds.toCode("postHold")} then 'posted' else 'voided' end as state, count(*) as entries
        from (${postedAs("postHold", "voidHold")}) e group by 1, 2, 3
      ) e
      full join (
        select org_id, settled_at as at, state, count(*) as holds, count(*) filter (where id >= ${JOURNAL_BEGINS}) as kept
        from holds where state <> 'open' group by 1, 2, 3
      ) h using (org_id, at, state)
      where coalesce(e.entries, 0) > coalesce(h.holds, 0) or coalesce(h.kept, 0) > coalesce(e.entries, 0)`,
  },
  {
    invariant: "I3_types",
    says: "the index by type says what is in each full block",
    violations: sql`
      select account_number || '/' || type || '/' || sequence as what, 'is missing in the index' as details
      from (
        select distinct p.account_number, p.type, ((p.sequence + 127) / 128) * 128 as sequence
        from postings p join accounts a on a.number = p.account_number
        where p.sequence <= (a.sequence / 128) * 128
      ) p
      left join type_blocks t using (account_number, type, sequence)
      where t.account_number is null`,
  },
];

export interface Counted {
  organisations: bigint;
  accounts: bigint;
  entries: bigint;
  postings: bigint;
  holds: bigint;
}

export async function countAll(db: Queryable): Promise<Counted> {
  return db.one<Counted>(sql`
    select (select count(distinct org_id) from accounts) as organisations, (select count(*) from accounts) as accounts,
      (select count(*) from entries) as entries, (select count(*) from postings) as postings, (select count(*) from holds) as holds`);
}
