import { rawSql, sql, type Queryable, type Sql } from "@wonrail/kit/db";

/** An invariant of the tables. The statement returns the rows that break it. */
export interface Check {
  /**
   * I1 conservation, I2 entries, I3 accounts, I4 cancellations and deposits, I6 holds, I7 order,
   * I8 callers.
   */
  invariant: string;
  says: string;
  violations: Sql;
}

export interface Violation {
  what: string;
  details: string;
}

/** Compiling a check takes longer than most checks. More memory keeps its sorts off the disk. */
export async function prepareChecks(connection: Queryable): Promise<void> {
  await connection.run(rawSql("set local jit = off"));
  await connection.run(rawSql("set local work_mem = '64MB'"));
}

/** Prevents a detach between the first and the last read of a snapshot. */
export async function lockJournal(connection: Queryable): Promise<void> {
  await connection.run(rawSql("lock table entries, postings in access share mode"));
}

/** Takes a turn of verification for this connection until it closes. Returns false when another replica has it. */
export async function tryLockTurn(
  connection: Queryable,
  turn: "verify accounts" | "verify journal",
  schema: string,
): Promise<boolean> {
  const { locked } = await connection.one<{ locked: boolean }>(sql`
    select pg_try_advisory_lock(hashtext(${turn}), hashtext(${schema})) as locked`);
  return locked;
}

export async function findViolations(db: Queryable, check: Check, limit: number): Promise<Violation[]> {
  return db.query<Violation>(sql`select what, details from (${check.violations}) v limit ${limit}`);
}

/** Checks of the accounts alone. Each reads all accounts. */
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
    says: "an account holds the sum of its open holds",
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

export interface Counted {
  organisations: bigint;
  accounts: bigint;
  entries: bigint;
  /** Entries of callers without certificates. */
  unidentified: bigint;
  postings: bigint;
  holds: bigint;
}

export async function countAll(db: Queryable): Promise<Counted> {
  return db.one<Counted>(sql`
    select (select count(distinct org_id) from accounts) as organisations, (select count(*) from accounts) as accounts,
      (select count(*) from entries) as entries,
      (select count(*) from entries where posted_by is null) as unidentified, (select count(*) from postings) as postings, (select count(*) from holds) as holds`);
}
