import { named, sql, type Queryable, type Sql } from "@wonrail/kit/db";
import { idToUuid, uuidToId } from "@wonrail/kit/contract/ids";
import { type IntentKind } from "../domain/intents";
import { POSTINGS_PER_BLOCK } from "../domain/types";
import type { Check } from "./checks";
import { intentKinds, transactionTypes } from "./codes";

// The checks of the journal, each for one window: a part of the accounts' lines, a run of an
// organisation's entries, or one organisation's rows in the other tables.

/** Lines of some accounts with sequences after one and up to another. */
export interface LineWindow {
  numbers: bigint[];
  after: bigint;
  last: bigint;
}

/** Entries of an organisation with sequences after one and up to another. */
export interface EntryWindow {
  orgId: string;
  after: bigint;
  last: bigint;
}

/** A multiple of the size of a type block. */
const LINES_AT_ONCE = 100n * POSTINGS_PER_BLOCK;
const ACCOUNTS_AT_ONCE = 200;
export const ENTRIES_AT_ONCE = 5_000n;

/** Lists windows of the next accounts. An account with many lines gets its own windows. */
export async function nextLineWindows(db: Queryable, afterNumber: bigint): Promise<LineWindow[]> {
  const accounts = await db.query<{ number: bigint; sequence: bigint }>(
    named(
      "accounts_next_windows",
      sql`select number, sequence from accounts where number > ${afterNumber} order by number limit ${ACCOUNTS_AT_ONCE}`,
    ),
  );
  const windows: LineWindow[] = [];
  const few = accounts.filter(({ sequence }) => sequence <= LINES_AT_ONCE).map(({ number }) => number);
  if (few.length > 0) windows.push({ numbers: few, after: 0n, last: LINES_AT_ONCE });
  for (const { number, sequence } of accounts) {
    if (sequence <= LINES_AT_ONCE) continue;
    for (let after = 0n; after < sequence; after += LINES_AT_ONCE)
      windows.push({ numbers: [number], after, last: after + LINES_AT_ONCE });
  }
  return windows;
}

export async function nextOrganisations(
  db: Queryable,
  afterOrgId: string | null,
  limit: number,
): Promise<string[]> {
  const after = afterOrgId === null ? "00000000-0000-0000-0000-000000000000" : idToUuid(afterOrgId);
  const rows = await db.query<{ org_id: string }>(
    named(
      "journal_heads_ids",
      sql`select org_id from journal_heads where org_id > ${after} order by org_id limit ${limit}`,
    ),
  );
  return rows.map(({ org_id }) => uuidToId("org", org_id));
}

/** An account's lines: its postings, and in place of detached postings the runs that they were. */
const LINES = sql`(
  select account_number, sequence, sequence as last_sequence, entry_id, org_id, amount_won, balance_after_won from postings
  union all
  select account_number, first_sequence, last_sequence, null, null, amount_won, balance_after_won from detached_postings)`;

export function lineChecks({ numbers, after, last }: LineWindow): Check[] {
  return [
    {
      invariant: "I3_chain",
      says: "each line continues the line before it, from 1, without a gap",
      violations: sql`
        select account_number || '/' || sequence as what, 'comes to ' || balance_after_won || ' after ' || coalesce(before, 0) as details
        from (
          select account_number, sequence, amount_won, balance_after_won,
            lag(balance_after_won) over w as before, lag(last_sequence) over w as before_sequence
          from ${LINES} l
          where account_number = any(${numbers}::bigint[]) and last_sequence >= ${after} and sequence <= ${last}
          window w as (partition by account_number order by sequence)
        ) p
        where sequence > ${after}
          and (sequence <> coalesce(before_sequence, 0) + 1 or balance_after_won <> coalesce(before, 0) + amount_won)`,
    },
    {
      invariant: "I3_balance",
      says: "an account's balance and sequence are those of its last line",
      violations: sql`
        select a.id::text as what, 'balance ' || a.balance_won || ' at ' || a.sequence || ', last line '
          || coalesce(p.balance_after_won, 0) || ' at ' || coalesce(p.last_sequence, 0) as details
        from accounts a
        left join lateral (
          select last_sequence, balance_after_won from ${LINES} l where l.account_number = a.number
          order by last_sequence desc limit 1
        ) p on true
        where a.number = any(${numbers}::bigint[])
          and (coalesce(p.last_sequence, 0) <> a.sequence or coalesce(p.balance_after_won, 0) <> a.balance_won)`,
    },
    {
      invariant: "I2_no_strays",
      says: "every posting belongs to an entry that names it",
      violations: sql`
        select p.account_number || '/' || p.sequence as what, 'its entry does not name it' as details
        from postings p left join entries e on e.org_id = p.org_id and e.id = p.entry_id
        where p.account_number = any(${numbers}::bigint[]) and p.sequence > ${after} and p.sequence <= ${last}
          and not exists (
            select from unnest(e.account_numbers, e.sequences) as n (number, sequence)
            where n.number = p.account_number and n.sequence = p.sequence)`,
    },
    {
      invariant: "I7_order",
      says: "an account's postings follow the order of the organisation's entries",
      violations: sql`
        select account_number || '/' || sequence as what, 'is of entry ' || org_sequence || ' after entry ' || before as details
        from (
          select p.account_number, p.sequence, e.org_sequence, lag(e.org_sequence) over w as before
          from postings p join entries e on e.org_id = p.org_id and e.id = p.entry_id
          where p.account_number = any(${numbers}::bigint[]) and p.sequence >= ${after} and p.sequence <= ${last}
          window w as (partition by p.account_number order by p.sequence)
        ) o
        where org_sequence < before`,
    },
    typesCheck({ numbers, after, last }),
  ];
}

function typesCheck({ numbers, after, last }: LineWindow): Check {
  return {
    invariant: "I3_types",
    says: "the index by type contains each full block's types",
    violations: sql`
      select account_number || '/' || type || '/' || sequence as what, 'is missing in the index' as details
      from (
        select distinct p.account_number, p.type, ((p.sequence + 127) / 128) * 128 as sequence
        from postings p join accounts a on a.number = p.account_number
        where p.account_number = any(${numbers}::bigint[]) and p.sequence > ${after} and p.sequence <= ${last}
          and p.sequence <= (a.sequence / 128) * 128
      ) p
      left join type_blocks t using (account_number, type, sequence)
      where t.account_number is null`,
  };
}

export function entryChecks(
  { orgId, after, last }: EntryWindow,
  posters: readonly [kind: IntentKind, poster: string][],
): Check[] {
  const org = idToUuid(orgId);
  const entries = sql`(
    select * from entries where org_id = ${org} and org_sequence > ${after} and org_sequence <= ${last})`;
  return [
    {
      invariant: "I7_sequence",
      says: "an organisation's entries are numbered from 1 without a gap",
      violations: sql`
        select org_id::text as what, 'entries ' || present || ' of the ' || wanted || ' after ' || ${after}::bigint as details
        from (
          select h.org_id, greatest(least(h.last_sequence, ${last}) - ${after}::bigint, 0) as wanted,
            (select count(*) from ${entries} e) + (
              select coalesce(sum(least(last_sequence, ${last}) - greatest(first_sequence, ${after}::bigint + 1) + 1), 0)
              from detached_entries d
              where d.org_id = h.org_id and first_sequence <= ${last} and last_sequence > ${after}) as present
          from journal_heads h where h.org_id = ${org}
        ) c
        where present <> wanted`,
    },
    {
      invariant: "I2_entry_balance",
      says: "the postings of an entry are two or more and sum to zero",
      violations: sql`
        select e.id::text as what, 'postings ' || count(*) || ', sum ' || sum(p.amount_won) as details
        from ${entries} e cross join lateral unnest(e.account_numbers, e.sequences) as l (number, sequence)
        join postings p on p.account_number = l.number and p.sequence = l.sequence and p.entry_id = e.id
        group by e.id having sum(p.amount_won) <> 0 or count(*) < 2`,
    },
    {
      invariant: "I2_entry_named",
      says: "every posting that an entry names exists",
      violations: sql`
        select e.id::text as what, 'account ' || l.number || ', posting ' || l.sequence || ' is missing' as details
        from ${entries} e cross join lateral unnest(e.account_numbers, e.sequences) as l (number, sequence)
        left join postings p on p.account_number = l.number and p.sequence = l.sequence and p.entry_id = e.id
        where p.entry_id is null`,
    },
    {
      invariant: "I4_cancelled",
      says: "a posted cancellation of a charge is counted at the charge",
      violations: sql`
        select e.id::text as what, 'cancels ' || e.original_id || ', which is not marked as cancelled' as details
        from ${entries} e left join cancelled_charges c on c.org_id = e.org_id and c.charge_id = e.original_id
        where e.kind = ${intentKinds.toCode("cancelCharge")} and c.charge_id is null`,
    },
    {
      invariant: "I4_refunded",
      says: "a posted refund of a payment is counted at the payment",
      violations: sql`
        select e.id::text as what, 'refunds ' || e.original_id || ', which is not marked as refunded' as details
        from ${entries} e left join refunded_payments r on r.org_id = e.org_id and r.payment_id = e.original_id
        where e.kind = ${intentKinds.toCode("refundPayment")} and r.payment_id is null`,
    },
    {
      invariant: "I8_callers",
      says: "every entry was posted by a service that may post its intent",
      violations: sql`
        select e.id::text as what, 'kind ' || e.kind || ' was posted by ' || e.posted_by as details
        from ${entries} e
        left join unnest(
          ${posters.map(([kind]) => intentKinds.toCode(kind))}::smallint[],
          ${posters.map(([, poster]) => poster)}::text[]) as m (kind, poster) on m.kind = e.kind and m.poster = e.posted_by
        where m.kind is null and e.posted_by is not null`,
    },
  ];
}

/** The journal does not contain older ids. */
const JOURNAL_BEGINS = sql`(select uuid_from(min(from_at)) from journal_partitions)`;

/** Rows of another table: the id of each row's entry, and its subject. */
interface RowsOfEntries {
  rows: Sql;
  withoutEntry: string;
  withoutRow: string;
}

/** A full join never runs row by row, whatever the planner estimates. */
function eachHasItsRow(
  orgId: string,
  kind: IntentKind,
  { rows, withoutEntry, withoutRow }: RowsOfEntries,
): Sql {
  return sql`
    select coalesce(r.what, id::text) as what,
      case when e.kind is null then ${withoutEntry}::text else ${withoutRow}::text end as details
    from (
      select org_id, id, kind from entries
      where org_id = ${idToUuid(orgId)} and kind = ${intentKinds.toCode(kind)} and code is null
    ) e
    full join (select * from (${rows}) a where org_id = ${idToUuid(orgId)}) r using (org_id, id)
    where r.what is null or (e.kind is null and id >= ${JOURNAL_BEGINS})`;
}

export function organisationChecks(orgId: string): Check[] {
  const org = idToUuid(orgId);
  return [
    {
      invariant: "I4_charges",
      says: "a charge is cancelled by as much as its cancellations posted",
      violations: sql`
        select c.charge_id::text as what, 'cancelled ' || c.cancelled_won || ', posted ' || coalesce(p.amount_won, 0) as details
        from cancelled_charges c
        left join lateral (
          select sum(p.amount_won) as amount_won
          from entries e cross join lateral unnest(e.account_numbers, e.sequences) as l (number, sequence)
          join postings p on p.account_number = l.number and p.sequence = l.sequence and p.entry_id = e.id
          where e.org_id = c.org_id and e.original_id = c.charge_id and p.amount_won > 0
        ) p on true
        where c.org_id = ${org} and c.charge_id >= ${JOURNAL_BEGINS} and c.cancelled_won <> coalesce(p.amount_won, 0)`,
    },
    {
      invariant: "I4_payments",
      says: "a cancelled payment has one entry that cancels it, and each such entry one payment",
      violations: eachHasItsRow(orgId, "cancelPayment", {
        rows: sql`select org_id, cancel_id as id, payment_id::text as what from cancelled_payments`,
        withoutEntry: "the cancellation is not in the journal",
        withoutRow: "cancels no payment",
      }),
    },
    refundsCheck(org),
    {
      invariant: "I4_deposits",
      says: "a credited log has one entry that credits it, and each such entry one log",
      violations: eachHasItsRow(orgId, "creditExternal", {
        rows: sql`select org_id, entry_id as id, chain_log_id as what from credits`,
        withoutEntry: "the credit is not in the journal",
        withoutRow: "credits no log",
      }),
    },
    {
      invariant: "I6_placed",
      says: "a hold has one entry that places it, and each such entry one hold",
      violations: eachHasItsRow(orgId, "placeHold", {
        rows: sql`select org_id, id, id::text as what from holds`,
        withoutEntry: "was placed by no entry",
        withoutRow: "places no hold",
      }),
    },
    {
      invariant: "I6_once",
      says: "a hold is posted or voided once, by an entry that exists",
      violations: sql`
        select h.id::text as what, 'is ' || h.state || ', entries that post it ' || e.posted || ', that void it ' || e.voided as details
        from holds h
        left join lateral (
          select count(*) filter (where kind = ${intentKinds.toCode("postHold")}) as posted,
            count(*) filter (where kind = ${intentKinds.toCode("voidHold")}) as voided
          from entries e where e.org_id = h.org_id and e.original_id = h.id
        ) e on true
        where h.org_id = ${org} and h.id >= ${JOURNAL_BEGINS}
          and (e.posted <> (h.state = 'posted')::integer or e.voided <> (h.state = 'voided')::integer)`,
    },
  ];
}

function refundsCheck(org: string): Check {
  return {
    invariant: "I4_refunds",
    says: "a payment is refunded by as much as its refunds took from the receiver, and not cancelled too",
    violations: sql`
      select r.payment_id::text as what, 'refunded ' || r.refunded_won || ', posted ' || coalesce(p.amount_won, 0)
        || case when c.payment_id is null then '' else ', and cancelled' end as details
      from refunded_payments r
      left join cancelled_payments c using (org_id, payment_id)
      left join lateral (
        select -sum(p.amount_won) as amount_won
        from entries e cross join lateral unnest(e.account_numbers, e.sequences) as l (number, sequence)
        join postings p on p.account_number = l.number and p.sequence = l.sequence and p.entry_id = e.id
        where e.org_id = r.org_id and e.original_id = r.payment_id and p.amount_won < 0
          and e.kind = ${intentKinds.toCode("refundPayment")}
          and p.type = ${transactionTypes.toCode("PAYMENT_CANCEL")}
      ) p on true
      where r.org_id = ${org} and r.payment_id >= ${JOURNAL_BEGINS}
        and (r.refunded_won <> coalesce(p.amount_won, 0) or c.payment_id is not null)`,
  };
}
