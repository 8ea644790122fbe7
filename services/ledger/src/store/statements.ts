import { named, sql, type Queryable, type Sql } from "@wonrail/kit/db";
import { largest, smallest } from "@wonrail/kit/contract/bigints";
import { idToUuid, joinId } from "@wonrail/kit/contract/ids";
import { type Page } from "@wonrail/kit/page";
import { type Won, won } from "@wonrail/kit/contract/money";
import { POSTINGS_PER_BLOCK, type Account, type Posting, type TransactionType } from "../domain/types";
import { accountId } from "./accounts";
import { accountTypes, transactionTypes } from "./codes";

/** A posting as a line of its account's statement. */
export interface StatementLine {
  requestId: string;
  relatedId: string | null;
  memo: string | null;
  reference: string | null;
  postedAtMs: number;
  posting: Posting;
  counterpartyIds: string[];
}

/** Sequences from `first` to `last`, both included. Empty when `first` is greater. */
export interface SequenceRange {
  first: bigint;
  last: bigint;
}

/**
 * The first sequence posted at or after a time, by binary search: about twenty key look-ups for
 * millions of postings, without an index on time. Detached lines leave gaps, where the next
 * remaining line decides. If the database's clock was set back, times run backwards. The search
 * steps do not depend on later lines, so every caller gets the same answer, and adjacent
 * ranges neither omit nor repeat a line.
 */
export function findSequenceAt(db: Queryable, account: Account, atMs: number): Promise<bigint> {
  return findFirst(db, account, "statement_sequence_at", sql`e.posted_at < ${new Date(atMs)}`);
}

/**
 * The first sequence of an account from an entry of its organisation on. An account's lines are in
 * the order of the entries.
 */
export function findSequenceFrom(db: Queryable, account: Account, orgSequence: bigint): Promise<bigint> {
  return findFirst(db, account, "statement_sequence_from", sql`e.org_sequence < ${orgSequence}`);
}

/** The first sequence whose entry `e` is not before the wanted place. */
async function findFirst(db: Queryable, account: Account, name: string, isBefore: Sql): Promise<bigint> {
  const row = await db.one<{ sequence: bigint }>(named(name, firstSequence(account, isBefore)));
  return row.sequence;
}

function firstSequence(account: Account, isBefore: Sql): Sql {
  return sql`
    with recursive search (before, step) as (
      select 0::bigint, ${largestStep(account.sequence)}::bigint
      union all
      select case when ${isBefore} then s.before + s.step else s.before end, s.step / 2
      from search s
      left join lateral (
        select org_id, entry_id from postings
        where ${linesBetween(account, sql`s.before + s.step`, account.sequence)}
        order by account_number, sequence limit 1) p on true
      left join entries e on e.org_id = p.org_id and e.id = p.entry_id
      where s.step > 0
    )
    select before + 1 as sequence from search where step = 0`;
}

/**
 * The balance after all lines before each time, in the order of the times. Each step of the binary
 * search reads the lines of all times in one statement, and a line that several times need only once.
 */
export async function listBalancesBefore(db: Queryable, account: Account, times: Date[]): Promise<Won[]> {
  let before = times.map(() => 0n);
  for (let step = largestStep(account.sequence); step > 0n; step /= 2n) {
    const lines = await findLinesFrom(
      db,
      account,
      before.map((sequence) => sequence + step),
    );
    before = before.map((sequence, index) => {
      const line = lines.get(sequence + step);
      return line !== undefined && line.postedAt < times[index]! ? sequence + step : sequence;
    });
  }
  const lines = await findLinesFrom(
    db,
    account,
    before.map((sequence) => sequence + 1n),
  );
  return before.map((sequence) => lines.get(sequence + 1n)?.balanceBefore ?? account.balanceWon);
}

interface DatedBalance {
  postedAt: Date;
  balanceBefore: Won;
}

/** The first line from each sequence on, by that sequence. */
async function findLinesFrom(
  db: Queryable,
  account: Account,
  sequences: bigint[],
): Promise<Map<bigint, DatedBalance>> {
  const rows = await db.query<{ sequence: bigint; posted_at: Date; balance: bigint }>(
    named(
      "statement_lines_from",
      sql`
        select s.sequence, e.posted_at, p.balance
        from unnest(${[...new Set(sequences)]}::bigint[]) as s (sequence)
        cross join lateral (
          select org_id, entry_id, balance_after_won - amount_won as balance from postings
          where ${linesBetween(account, sql`s.sequence`, account.sequence)}
          order by account_number, sequence limit 1) p
        join entries e on e.org_id = p.org_id and e.id = p.entry_id`,
    ),
  );
  return new Map(
    rows.map(({ sequence, posted_at: postedAt, balance }) => [
      sequence,
      { postedAt, balanceBefore: won(balance) },
    ]),
  );
}

/**
 * The lines of an account in a range, for `order by account_number, sequence limit 1`. A plan that
 * does not know the account expects few lines for `account_number = …`, and sorts all lines to find
 * the first. For a comparison of both columns it expects many lines, and takes the first by index.
 */
function linesBetween({ number }: Account, first: Sql | bigint, last: bigint): Sql {
  return sql`
    (account_number, sequence) >= (${number}, ${first}) and (account_number, sequence) <= (${number}, ${last})`;
}

/** The largest power of two that a sequence has reached. */
export function largestStep(sequence: bigint): bigint {
  return sequence === 0n ? 0n : 1n << BigInt(sequence.toString(2).length - 1);
}

/** A part of the rows in one of the two orders. */
export interface RowsWanted {
  offset: number;
  limit: number;
  oldestFirst: boolean;
}

export interface DetachedLines {
  /** Lines of the range that have left with their month. */
  lines: bigint;
  /** How many of them stand before the line at the offset. */
  before: bigint;
}

/**
 * Counts detached lines. Each run of them is a row, so this is one index look-up for most accounts.
 */
export function countDetachedLines(
  db: Queryable,
  account: Account,
  { first, last }: SequenceRange,
  { offset, oldestFirst }: Page,
): Promise<DetachedLines> {
  // The lines that are left before a run: those before it, less the runs among them.
  const place = oldestFirst
    ? sql`first_sequence - ${first} - sum(lines) over (order by first_sequence) + lines`
    : sql`${last} - last_sequence - sum(lines) over (order by last_sequence desc) + lines`;
  return db.one<DetachedLines>(
    named(
      oldestFirst ? "statement_detached_lines_oldest" : "statement_detached_lines",
      sql`
        select coalesce(sum(lines), 0)::bigint as lines, coalesce(sum(lines) filter (where place <= ${offset}), 0)::bigint as before
        from (
          select lines, ${place} as place
          from (
            select first_sequence, last_sequence, last_sequence - first_sequence + 1 as lines
            from (
              select greatest(first_sequence, ${first}) as first_sequence, least(last_sequence, ${last}) as last_sequence
              from detached_postings
              where account_number = ${account.number} and first_sequence <= ${last} and last_sequence >= ${first}
            ) r
          ) r
        ) r`,
    ),
  );
}

/**
 * The first lines of a range in the wanted order. Reads only the sequences that the lines must have,
 * because sequences have no gaps but detached lines. A page with such a gap is read from the whole
 * range.
 */
export async function listSequences(
  db: Queryable,
  account: Account,
  range: SequenceRange,
  rows: RowsWanted,
): Promise<StatementLine[]> {
  const part = firstOf(range, rows);
  const lines = await listRange(db, account, part, rows);
  const isComplete = lines.length === rows.limit || (part.first === range.first && part.last === range.last);
  return isComplete ? lines : listRange(db, account, range, rows);
}

/** As many sequences as rows are wanted. */
function firstOf({ first, last }: SequenceRange, { limit, oldestFirst }: RowsWanted): SequenceRange {
  const span = BigInt(limit) - 1n;
  if (oldestFirst) return { first, last: smallest(first + span, last) };
  return { first: largest(last - span, first), last };
}

async function listRange(
  db: Queryable,
  account: Account,
  range: SequenceRange,
  { limit, oldestFirst }: RowsWanted,
): Promise<StatementLine[]> {
  return toLines(
    account,
    await db.query<LineRow>(
      named(
        oldestFirst ? "statement_list_oldest" : "statement_list",
        sql`
        ${LINE}
        from postings p
        ${ENTRY}
        where p.account_number = ${account.number} and p.sequence between ${range.first} and ${range.last}
          and p.org_id = ${idToUuid(account.orgId)}
        order by p.sequence ${directionOf(oldestFirst)} limit ${limit}`,
      ),
    ),
  );
}

/**
 * The first sequences of some types in the wanted order, block by block. It reads only blocks with
 * one of the types.
 */
export async function listSequencesOfTypes(
  db: Queryable,
  account: Account,
  types: TransactionType[],
  range: SequenceRange,
  { offset, limit, oldestFirst }: RowsWanted,
): Promise<StatementLine[]> {
  const direction = directionOf(oldestFirst);
  return toLines(
    account,
    await db.query<LineRow>(
      named(
        oldestFirst ? "statement_list_types_oldest" : "statement_list_types",
        sql`
        ${LINE}
        from (
          ${matches(account, types, range, direction)}
          order by b.sequence ${direction}, p.sequence ${direction} offset ${offset} limit ${limit}
        ) p
        ${ENTRY}
        order by p.sequence ${direction}`,
      ),
    ),
  );
}

function directionOf(oldestFirst: boolean): Sql {
  return oldestFirst ? sql`asc` : sql`desc`;
}

export async function countOfTypes(
  db: Queryable,
  account: Account,
  types: TransactionType[],
  range: SequenceRange,
  atMost: number,
): Promise<number> {
  const row = await db.one<{ count: number }>(
    named(
      "statement_count_types",
      sql`select count(*)::integer as count from (${matches(account, types, range, sql`desc`)} limit ${atMost}) m`,
    ),
  );
  return row.count;
}

/**
 * Matching lines in the range's blocks with one of the types, and in the last block, whose types
 * are not stored yet.
 */
function matches(
  account: Account,
  types: TransactionType[],
  { first, last }: SequenceRange,
  direction: Sql,
): Sql {
  const codes = types.map((type) => transactionTypes.toCode(type));
  const lastFull = (account.sequence / POSTINGS_PER_BLOCK) * POSTINGS_PER_BLOCK;
  return sql`
    select p.*
    from (
      select ${lastFull + POSTINGS_PER_BLOCK}::bigint as sequence
      union
      select t.sequence from type_blocks t
      where t.account_number = ${account.number} and t.type = any(${codes}::smallint[])
        and t.sequence between ${first} and ${last}::bigint + ${POSTINGS_PER_BLOCK}::bigint - 1
      order by sequence ${direction}
    ) b
    cross join lateral (
      select * from postings p
      where p.account_number = ${account.number} and p.org_id = ${idToUuid(account.orgId)}
        and p.sequence > b.sequence - ${POSTINGS_PER_BLOCK}::bigint and p.sequence <= b.sequence
        and p.sequence between ${first} and ${last}
        and p.type = any(${codes}::smallint[])
      order by p.sequence ${direction}
    ) p`;
}

export interface LineRow {
  sequence: bigint;
  amount_won: bigint;
  balance_after_won: bigint;
  type: number;
  entry_id: string;
  request_prefix: string;
  posted_at: Date;
  related_id: string | null;
  memo: string | null;
  reference: string | null;
  counterparties: [id: string, type: number][];
}

/** The columns of a line, from a posting `p` and its entry `e`. */
export const LINE = sql`
  select p.sequence, p.amount_won, p.balance_after_won, p.type, e.id as entry_id, e.request_prefix,
    e.posted_at, e.related_id, e.memo, e.reference,
    coalesce((
      select json_agg(json_build_array(a.id, a.type) order by n.position)
      from (
        select u.number, min(u.position) as position
        from unnest(e.account_numbers, e.sequences) with ordinality as u (number, sequence, position)
        join postings other on other.org_id = p.org_id and other.account_number = u.number and other.sequence = u.sequence
          and other.entry_id = e.id
        where u.number <> p.account_number and (other.amount_won > 0) <> (p.amount_won > 0)
        group by u.number
      ) n join accounts a on a.number = n.number
    ), '[]') as counterparties`;

const ENTRY = sql`join entries e on e.org_id = p.org_id and e.id = p.entry_id`;

function toLines(account: Account, rows: LineRow[]): StatementLine[] {
  return rows.map((row) => toLine(account, row));
}

export function toLine(account: Pick<Account, "number" | "id" | "type">, row: LineRow): StatementLine {
  return {
    requestId: joinId(row.request_prefix, row.entry_id),
    relatedId: row.related_id,
    memo: row.memo,
    reference: row.reference,
    postedAtMs: row.posted_at.getTime(),
    posting: {
      accountNumber: account.number,
      accountId: account.id,
      accountType: account.type,
      type: transactionTypes.fromCode(row.type),
      amountWon: won(row.amount_won),
      balanceAfterWon: won(row.balance_after_won),
      sequence: row.sequence,
    },
    counterpartyIds: row.counterparties.map(([id, type]) => accountId(accountTypes.fromCode(type), id)),
  };
}

/** The balance before the first remaining line from a sequence on. Undefined: there is no such line. */
export async function findBalanceBefore(
  db: Queryable,
  account: Account,
  sequence: bigint,
): Promise<Won | undefined> {
  const row = await db.maybe<{ balance: bigint }>(sql`
    select balance_after_won - amount_won as balance from postings
    where ${linesBetween(account, sequence, account.sequence)}
    order by account_number, sequence limit 1`);
  return row && won(row.balance);
}

export async function hasDetachedLines(db: Queryable, account: Account): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (select from detached_postings where account_number = ${account.number}) as found`);
  return found;
}

/** True when a month has left the journal. */
export async function hasDetachedMonths(db: Queryable): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(
    sql`select exists (select from detached_postings) as found`,
  );
  return found;
}
