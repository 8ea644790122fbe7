import { named, sql, type Queryable, type Tx } from "@wonrail/kit/db";
import { assert, isErrorCode } from "@wonrail/kit/contract/errors";
import { groupBy } from "@wonrail/kit/groupBy";
import { hexOf, idToUuid, joinId, prefixOf, uuidToId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { isOrgAccount } from "../domain/accountTypes";
import { requestKey } from "../domain/types";
import type {
  AnsweredRequest,
  BalanceAfter,
  Entry,
  JournalEntry,
  LedgerRequest,
  Origin,
  Outcome,
  Posting,
  RequestRef,
} from "../domain/types";
import { accountId } from "./accounts";
import { arrayLiteral, emptyWhenAllNull, uuidArray } from "./arrays";
import { accountTypes, intentKinds, transactionTypes } from "./codes";
import { originText, toOrigin } from "./originText";
import { detailOf, isEmpty, payingNormal, toHold, type Detail } from "./entryDetail";

/** A decided request as the journal keeps it. */
export interface StoredRequest extends Pick<JournalEntry, "origin"> {
  orgId: string;
  requestId: string;
  kind: Entry["kind"];
  answer: AnsweredRequest;
}

/** Inserts in id order, so that two batches with the same new requests never deadlock. */
export function insertEntries(
  tx: Tx,
  answered: { request: LedgerRequest; answer: AnsweredRequest }[],
  { nowMs, origins }: { nowMs: number; origins: ReadonlyMap<LedgerRequest, Origin> },
): void {
  const columns = emptyColumns();
  for (const { request, answer } of answered) {
    addRow(columns, request, answer);
    columns.origins.push(originText(origins.get(request)));
  }
  tx.push(
    named(
      "entries_insert",
      sql`
        insert into entries
          (org_id, id, request_prefix, kind, content_hash, posted_at, posted_by, org_sequence, related_id, memo, reference, metadata,
            original_id, account_numbers, sequences, code, detail, origin)
        select org_id, id, request_prefix, kind, content_hash, ${new Date(nowMs)}::timestamptz, posted_by, org_sequence, related_id, memo, reference,
          metadata::jsonb, original_id,
          (${columns.accountNumbers}::bigint[])[first:last], (${columns.sequences}::bigint[])[first:last], code, detail::jsonb, origin
        from unnest(
          ${uuidArray(columns.orgIds)}::uuid[],
          ${uuidArray(columns.ids)}::uuid[],
          ${columns.prefixes}::text[],
          ${columns.kinds}::smallint[],
          ${arrayLiteral(columns.contentHashes)}::uuid[],
          ${emptyWhenAllNull(columns.callers)}::text[],
          ${emptyWhenAllNull(columns.firsts)}::integer[],
          ${emptyWhenAllNull(columns.lasts)}::integer[],
          ${emptyWhenAllNull(columns.orgSequences)}::bigint[],
          ${emptyWhenAllNull(columns.relatedIds)}::text[],
          ${emptyWhenAllNull(columns.memos)}::text[],
          ${emptyWhenAllNull(columns.references)}::text[],
          ${emptyWhenAllNull(columns.metadata)}::text[],
          ${emptyWhenAllNull(columns.originalIds)}::uuid[],
          ${emptyWhenAllNull(columns.codes)}::text[],
          ${emptyWhenAllNull(columns.details)}::text[],
          ${emptyWhenAllNull(columns.origins)}::text[]
        ) as r (org_id, id, request_prefix, kind, content_hash, posted_by, first, last, org_sequence, related_id, memo, reference, metadata,
          original_id, code, detail, origin)
        order by id`,
    ),
  );
}

function emptyColumns() {
  return {
    orgIds: [] as string[],
    ids: [] as string[],
    prefixes: [] as string[],
    kinds: [] as number[],
    contentHashes: [] as string[],
    callers: [] as (string | null)[],
    relatedIds: [] as (string | null)[],
    memos: [] as (string | null)[],
    references: [] as (string | null)[],
    metadata: [] as (string | null)[],
    orgSequences: [] as (bigint | null)[],
    originalIds: [] as (string | null)[],
    /** Range of the entry's elements in the next two arrays. Null without postings. */
    firsts: [] as (number | null)[],
    lasts: [] as (number | null)[],
    accountNumbers: [] as bigint[],
    sequences: [] as bigint[],
    codes: [] as (string | null)[],
    details: [] as (string | null)[],
    origins: [] as (string | null)[],
  };
}

function addRow(
  columns: ReturnType<typeof emptyColumns>,
  request: LedgerRequest,
  answer: AnsweredRequest,
): void {
  const { outcome } = answer;
  const postings = outcome.status === "posted" ? outcome.entry.postings : [];
  const moved = postings.length > 0;
  const detail = detailOf(outcome);
  columns.orgIds.push(request.orgId);
  columns.ids.push(request.requestId);
  columns.prefixes.push(prefixOf(request.requestId));
  columns.kinds.push(intentKinds.toCode(request.intent.kind));
  columns.contentHashes.push(answer.contentHash);
  columns.callers.push(request.caller);
  columns.relatedIds.push(request.relatedId);
  columns.memos.push(request.memo);
  columns.references.push(request.reference);
  columns.metadata.push(isEmpty(request.metadata) ? null : JSON.stringify(request.metadata));
  columns.orgSequences.push(outcome.status === "posted" ? outcome.entry.orgSequence : null);
  columns.originalIds.push(originalIdOf(outcome));
  columns.firsts.push(moved ? columns.sequences.length + 1 : null);
  columns.lasts.push(moved ? columns.sequences.length + postings.length : null);
  for (const { accountNumber, sequence } of postings) {
    columns.accountNumbers.push(accountNumber);
    columns.sequences.push(sequence);
  }
  columns.codes.push(outcome.status === "refused" ? outcome.code : null);
  columns.details.push(detail === null ? null : JSON.stringify(detail));
}

/** The request that an entry cancels or refunds, or whose hold it ends. */
function originalIdOf(outcome: Outcome): string | null {
  if (outcome.status === "refused") return null;
  const { original } = outcome.entry;
  return original && idToUuid(original.requestId);
}

interface EntryRow {
  org_id: string;
  id: string;
  request_prefix: string;
  kind: number;
  content_hash: string;
  posted_at: Date;
  related_id: string | null;
  org_sequence: bigint | null;
  memo: string | null;
  reference: string | null;
  metadata: Record<string, string> | null;
  original_id: string | null;
  code: string | null;
  detail: Detail | null;
  origin: string | null;
  account_id: string | null;
  account_number: bigint | null;
  account_type: number | null;
  type: number | null;
  amount_won: bigint | null;
  balance_after_won: bigint | null;
  sequence: bigint | null;
}

const COLUMNS = sql`
  e.org_id, e.id, e.request_prefix, e.kind, e.content_hash, e.posted_at, e.org_sequence, e.related_id, e.memo, e.reference,
  e.metadata, e.original_id, e.code, e.detail, e.origin,
  a.id as account_id, a.number as account_number, a.type as account_type, p.type, p.amount_won, p.balance_after_won, p.sequence`;

/** The lines of entries \`e\`, in order. */
const LINES = sql`
  left join lateral unnest(e.account_numbers, e.sequences) with ordinality as l (number, sequence, position) on true
  left join postings p on p.account_number = l.number and p.sequence = l.sequence and p.entry_id = e.id
  left join accounts a on a.number = l.number`;

/** Finds requests with their postings, and with the entries that they cancel. */
export async function findEntries(db: Queryable, wanted: RequestRef[]): Promise<StoredRequest[]> {
  if (wanted.length === 0) return [];
  return withOriginals(db, await findRows(db, wanted));
}

/** The bounds on the id limit the partitions that Postgres reads. */
async function findRows(db: Queryable, wanted: RequestRef[]): Promise<EntryRow[]> {
  const orgs = wanted.map(({ orgId }) => idToUuid(orgId));
  const ids = wanted.map(({ requestId }) => idToUuid(requestId));
  const sorted = [...ids].sort();
  return db.query<EntryRow>(
    named(
      "entries_find",
      sql`
        select ${COLUMNS}
        from (select distinct * from unnest(${orgs}::uuid[], ${ids}::uuid[])) as w (org_id, id)
        join entries e on e.org_id = w.org_id and e.id = w.id
        ${LINES}
        where e.id between ${sorted[0]!} and ${sorted.at(-1)!}
        order by e.id, l.position`,
    ),
  );
}

/**
 * Lists an organisation's entries in commit order. The list ends before the limit when the entries' own
 * notes exceed their bytes, so that Postgres does not send entries that have no room in the answer.
 */
export async function listJournal(
  db: Queryable,
  orgId: string,
  { after, upTo }: { after: bigint; upTo: bigint },
  limits: { entries: number; notesBytes: number },
): Promise<JournalEntry[]> {
  const rows = await db.query<EntryRow>(
    named(
      "entries_list_journal",
      sql`
        select ${COLUMNS}
        from (
          select *, sum(coalesce(octet_length(metadata::text), 0)) over (order by org_sequence) as notes_bytes
          from (
            select * from entries where org_id = ${idToUuid(orgId)} and org_sequence > ${after} and org_sequence <= ${upTo}
            order by org_sequence limit ${limits.entries}
          ) listed
        ) e
        ${LINES}
        where e.notes_bytes - coalesce(octet_length(e.metadata::text), 0) < ${limits.notesBytes}
        order by e.org_sequence, l.position`,
    ),
  );
  return entriesOf(await withOriginals(db, rows));
}

/** Lists the newest cancellations or refunds of each request, oldest first. */
export async function findCancellations(
  db: Queryable,
  wanted: RequestRef[],
  limit: number,
): Promise<Entry[]> {
  if (wanted.length === 0) return [];
  const rows = await db.query<EntryRow>(
    named(
      "entries_find_cancellations",
      sql`
        select ${COLUMNS}
        from unnest(
          ${wanted.map(({ orgId }) => idToUuid(orgId))}::uuid[],
          ${wanted.map(({ requestId }) => idToUuid(requestId))}::uuid[]) as w (org_id, id)
        cross join lateral (
          select * from entries e where e.org_id = w.org_id and e.original_id = w.id
          order by e.org_sequence desc limit ${limit}) e
        ${LINES}
        order by e.org_sequence, e.id, l.position`,
    ),
  );
  return entriesOf(await withOriginals(db, rows));
}

function entriesOf(stored: StoredRequest[]): JournalEntry[] {
  return stored.flatMap(({ origin, answer: { outcome } }) =>
    outcome.status === "posted" ? [{ ...outcome.entry, origin }] : [],
  );
}

/** A cancelled entry cancels nothing itself, so one more look-up is enough. */
async function withOriginals(db: Queryable, rows: EntryRow[]): Promise<StoredRequest[]> {
  const wanted = rows.flatMap(({ org_id, original_id }) =>
    original_id !== null ? [{ orgId: uuidToId("org", org_id), requestId: uuidToId("jrn", original_id) }] : [],
  );
  const originals = answersByKey(
    wanted.length === 0 ? [] : groupRows(await findRows(db, wanted)).map((group) => toStoredRequest(group)),
  );
  return groupRows(rows).map((group) => {
    const { org_id, original_id } = group[0]!;
    const key = original_id && requestKey(uuidToId("org", org_id), uuidToId("jrn", original_id));
    const original = key ? originals.get(key)?.outcome : undefined;
    return toStoredRequest(group, original?.status === "posted" ? original.entry : null);
  });
}

function groupRows(rows: EntryRow[]): EntryRow[][] {
  return [...groupBy(rows, ({ org_id, id }) => org_id + id).values()];
}

/**
 * Returns the requests that the journal already has. Usually there are none, so only keys are read.
 * Also returns the time: one clock for all replicas, read after the locks, so that times on one
 * account's postings never run backwards.
 */
export async function findKnown(
  tx: Tx,
  wanted: readonly { orgId: string; requestId: string }[],
): Promise<{ nowMs: number; known: { orgId: string; requestId: string }[] }> {
  const ids = wanted.map(({ requestId }) => hexOf(requestId)).sort();
  const orgIds = new Set(wanted.map(({ orgId }) => orgId));
  const rows = await tx.query<{ now: Date; org_id: string | null; id: string | null }>(
    named(
      "entries_find_known",
      sql`
        select c.now, e.org_id, e.id
        from (select clock_timestamp() as now) c
        left join entries e on e.org_id = any(${uuidArray([...orgIds])}::uuid[]) and e.id = any(${uuidArray(ids)}::uuid[])
          and e.id between ${ids[0]!}::uuid and ${ids.at(-1)!}::uuid`,
    ),
  );
  return {
    nowMs: rows[0]!.now.getTime(),
    known: rows.flatMap(({ org_id, id }) =>
      id === null ? [] : [{ orgId: uuidToId("org", org_id!), requestId: uuidToId("jrn", id) }],
    ),
  };
}

function toStoredRequest(rows: EntryRow[], original: Entry | null = null): StoredRequest {
  const row = rows[0]!;
  const entry: Entry = {
    kind: intentKinds.fromCode(row.kind),
    orgId: uuidToId("org", row.org_id),
    requestId: joinId(row.request_prefix, row.id),
    relatedId: row.related_id,
    memo: row.memo,
    reference: row.reference,
    metadata: row.metadata ?? {},
    postedAtMs: row.posted_at.getTime(),
    orgSequence: row.org_sequence ?? 0n,
    postings: rows.flatMap(toPosting),
    balances: [],
    chargeCancelled: null,
    paymentRefunded: null,
    hold: null,
    toAddress: null,
    ...{ payerWalletId: null, freeze: null },
    original,
  };
  const { kind, orgId, requestId } = entry;
  return {
    orgId,
    requestId,
    kind,
    origin: toOrigin(row.origin),
    answer: { contentHash: row.content_hash, outcome: toOutcome(row, entry) },
  };
}

function toPosting(row: EntryRow): Posting[] {
  if (row.account_number === null) return [];
  const type = accountTypes.fromCode(row.account_type!);
  return [
    {
      accountNumber: row.account_number,
      accountId: accountId(type, row.account_id!),
      accountType: type,
      type: transactionTypes.fromCode(row.type!),
      amountWon: won(row.amount_won!),
      balanceAfterWon: won(row.balance_after_won!),
      sequence: row.sequence!,
    },
  ];
}

function toOutcome(row: EntryRow, entry: Entry): Outcome {
  const { code, detail } = row;
  if (code !== null) {
    assert(isErrorCode(code), `${code} is not a code that this release knows`);
    return { status: "refused", code, details: detail?.refusal ?? null };
  }
  const balances = detail?.balances?.map(([accountId, balance, held, sequence]) => ({
    accountId,
    balanceWon: won(BigInt(balance)),
    heldWon: won(BigInt(held)),
    sequence: BigInt(sequence),
  }));
  entry.balances = balances ?? balancesOf(entry.postings);
  if (detail?.chargeCancelled) {
    const [cancelled, remaining] = detail.chargeCancelled;
    entry.chargeCancelled = { cancelledWon: won(BigInt(cancelled)), remainingWon: won(BigInt(remaining)) };
  }
  if (detail?.paymentRefunded) {
    const [refunded, remaining] = detail.paymentRefunded;
    entry.paymentRefunded = { refundedWon: won(BigInt(refunded)), remainingWon: won(BigInt(remaining)) };
  }
  if (detail?.hold) entry.hold = toHold(detail.hold);
  entry.toAddress = detail?.toAddress ?? null;
  entry.payerWalletId = detail?.payerWalletId ?? payingNormal(entry);
  entry.freeze = detail?.freeze ?? null;
  return { status: "posted", entry };
}

/** Each wallet's balance after its last posting, in order of first appearance. */
function balancesOf(postings: Posting[]): BalanceAfter[] {
  const balances = new Map<string, BalanceAfter>();
  for (const { accountId, accountType, balanceAfterWon, sequence } of postings) {
    if (isOrgAccount(accountType)) continue;
    balances.set(accountId, { accountId, balanceWon: balanceAfterWon, heldWon: won(0n), sequence });
  }
  return [...balances.values()];
}

export function answersByKey(stored: StoredRequest[]): Map<string, AnsweredRequest> {
  return new Map(stored.map(({ orgId, requestId, answer }) => [requestKey(orgId, requestId), answer]));
}
