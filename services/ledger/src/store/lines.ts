import { type Queryable, type Sql, sql } from "@wonrail/kit/db";
import { idToUuid } from "@wonrail/kit/contract/ids";
import { type Won } from "@wonrail/kit/contract/money";
import { type TransactionType } from "../domain/types";
import { accountId } from "./accounts";
import { accountTypes, transactionTypes } from "./codes";
import { largestStep, LINE, type LineRow, type StatementLine, toLine } from "./statements";

/** The position of a line: its entry's sequence in the organisation, and its number in the entry. */
export interface LinePlace {
  orgSequence: bigint;
  position: number;
}

export interface PlacedLine {
  line: StatementLine;
  place: LinePlace;
}

export interface LineFilter {
  types: TransactionType[];
  reference: string | null;
  /** Entries from `first` on and before `end`. */
  first: bigint;
  end: bigint;
  minWon: Won | null;
  maxWon: Won | null;
}

/** A part of the list. */
export interface LinesWanted {
  after: LinePlace | null;
  oldestFirst: boolean;
  /** Entries to read at most. */
  entries: number;
  limit: number;
}

/** Lists the lines of all wallets of an organisation, in the order of their entries. */
export async function listLines(
  db: Queryable,
  orgId: string,
  filter: LineFilter,
  wanted: LinesWanted,
): Promise<PlacedLine[]> {
  const { after, oldestFirst } = wanted;
  const order = oldestFirst ? sql`asc` : sql`desc`;
  const place = sql`(e.org_sequence, n.position)`;
  const conditions = [
    ...(after === null ? [] : [beyond(place, after, oldestFirst)]),
    ...(filter.types.length === 0
      ? []
      : [sql`p.type = any(${filter.types.map((type) => transactionTypes.toCode(type))}::smallint[])`]),
    ...(filter.minWon === null ? [] : [sql`abs(p.amount_won) >= ${filter.minWon}`]),
    ...(filter.maxWon === null ? [] : [sql`abs(p.amount_won) <= ${filter.maxWon}`]),
  ];
  const rows = await db.query<PlacedRow>(sql`
    ${LINE}, e.org_sequence, n.position::integer as position, own.id as account_id, own.type as account_type, own.number as account_number
    from (${entriesOf(orgId, filter, wanted, sql`*`)}) e
    cross join lateral unnest(e.account_numbers, e.sequences) with ordinality as n (number, sequence, position)
    join accounts own on own.number = n.number and own.user_id is not null
    join postings p on p.org_id = e.org_id and p.account_number = n.number and p.sequence = n.sequence and p.entry_id = e.id
    where ${sql.join([sql`true`, ...conditions], sql` and `)}
    order by e.org_sequence ${order}, n.position ${order} limit ${wanted.limit}`);
  return rows.map(toPlacedLine);
}

/** The last entry of the part, when the part has as many entries as may be read. */
export async function findLastRead(
  db: Queryable,
  orgId: string,
  filter: LineFilter,
  wanted: LinesWanted,
): Promise<bigint | undefined> {
  const row = await db.maybe<{ org_sequence: bigint }>(sql`
    select org_sequence from (${entriesOf(orgId, filter, wanted, sql`org_sequence`)}) e
    order by org_sequence ${wanted.oldestFirst ? sql`asc` : sql`desc`} limit 1 offset ${wanted.entries - 1}`);
  return row?.org_sequence;
}

/**
 * The first sequence of an organisation that was posted at or after a time: a binary search, as for the
 * lines of an account. Comparing both columns makes any plan take the first entry by index.
 */
export async function findOrgSequenceAt(
  db: Queryable,
  orgId: string,
  head: bigint,
  atMs: number,
): Promise<bigint> {
  const row = await db.one<{ sequence: bigint }>(sql`
    with recursive search (before, step) as (
      select 0::bigint, ${largestStep(head)}::bigint
      union all
      select case when e.posted_at < ${new Date(atMs)} then s.before + s.step else s.before end, s.step / 2
      from search s
      left join lateral (
        select posted_at from entries
        where (org_id, org_sequence) >= (${idToUuid(orgId)}, s.before + s.step) and org_id <= ${idToUuid(orgId)}
          and org_sequence is not null
        order by org_id, org_sequence limit 1) e on true
      where s.step > 0
    )
    select before + 1 as sequence from search where step = 0`);
  return row.sequence;
}

/** Entries with lines. The index by reference and the one by sequence both end with the sequence. */
function entriesOf(
  orgId: string,
  { reference, first, end }: LineFilter,
  { after, oldestFirst, entries }: LinesWanted,
  columns: Sql,
): Sql {
  const bounds = [
    sql`org_id = ${idToUuid(orgId)} and account_numbers is not null`,
    sql`org_sequence >= ${first} and org_sequence < ${end}`,
    ...(reference === null ? [] : [sql`reference = ${reference}`]),
    ...(after === null
      ? []
      : [
          oldestFirst ? sql`org_sequence >= ${after.orgSequence}` : sql`org_sequence <= ${after.orgSequence}`,
        ]),
  ];
  return sql`
    select ${columns} from entries where ${sql.join(bounds, sql` and `)}
    order by org_sequence ${oldestFirst ? sql`asc` : sql`desc`} limit ${entries}`;
}

function beyond(place: Sql, { orgSequence, position }: LinePlace, oldestFirst: boolean): Sql {
  const given = sql`(${orgSequence}::bigint, ${position}::bigint)`;
  return oldestFirst ? sql`${place} > ${given}` : sql`${place} < ${given}`;
}

interface PlacedRow extends LineRow {
  org_sequence: bigint;
  position: number;
  account_id: string;
  account_type: number;
  account_number: bigint;
}

function toPlacedLine(row: PlacedRow): PlacedLine {
  const type = accountTypes.fromCode(row.account_type);
  const account = { number: row.account_number, id: accountId(type, row.account_id), type };
  return {
    line: toLine(account, row),
    place: { orgSequence: row.org_sequence, position: row.position },
  };
}
