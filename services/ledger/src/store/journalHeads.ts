import { named, sql, type Queryable, type Tx } from "@wonrail/kit/db";
import { idToUuid, joinId, uuidToId } from "@wonrail/kit/contract/ids";
import type { User } from "./accounts";
import { uuidArray } from "./arrays";

export interface JournalHead {
  orgId: string;
  lastSequence: bigint;
  /** The newest entry. Undefined when its month has left the journal. */
  lastRequestId: string | undefined;
}

interface HeadRow {
  org_id: string;
  last_sequence: bigint;
}

/** Inserts the missing heads of organisations. */
export async function ensureHeads(db: Queryable, orgIds: string[]): Promise<void> {
  await db.run(sql`
    insert into journal_heads (org_id)
    select * from unnest(${orgIds.map(idToUuid)}::uuid[]) order by 1
    on conflict do nothing`);
}

/**
 * Locks the heads of organisations until the commit, in id order. Every batch locks its accounts first,
 * so an account's entry n gets a smaller number than its entry n + 1.
 */
export async function lockHeads(tx: Tx, orgIds: Iterable<string>): Promise<Map<string, bigint>> {
  const rows = await tx.query<HeadRow>(
    named(
      "journal_heads_lock",
      sql`
        select org_id, last_sequence from journal_heads
        where org_id = any(${uuidArray([...orgIds])}::uuid[]) order by org_id for no key update`,
    ),
  );
  return headsOf(rows);
}

/** Locks the heads only if the users have no unknown wallets, which must be locked first. */
export async function lockHeadsUnlessMissed(
  tx: Tx,
  orgIds: Iterable<string>,
  users: User[],
  knownIds: Iterable<string>,
): Promise<Map<string, bigint>> {
  const rows = await tx.query<HeadRow>(
    named(
      "journal_heads_lock_unless_missed",
      sql`
        select org_id, last_sequence from journal_heads
        where org_id = any(${uuidArray([...orgIds])}::uuid[])
          and not (select exists (
            select from unnest(${uuidArray(users.map(({ orgId }) => orgId))}::uuid[],
              ${users.map(({ userId }) => userId)}::text[]) as u (org_id, user_id)
            join accounts a on a.org_id = u.org_id and a.user_id = u.user_id
            where a.id <> all(${uuidArray([...knownIds])}::uuid[])))
        order by org_id for no key update`,
    ),
  );
  return headsOf(rows);
}

/** Writes the new sequence of each organisation's newest entry. The caller holds the locks. */
export function saveHeads(tx: Tx, heads: Map<string, bigint>): void {
  tx.push(
    named(
      "journal_heads_save",
      sql`
        update journal_heads h set last_sequence = n.last_sequence
        from unnest(${uuidArray([...heads.keys()])}::uuid[], ${[...heads.values()]}::bigint[]) as n (org_id, last_sequence)
        where h.org_id = n.org_id`,
    ),
  );
}

export async function findHead(db: Queryable, orgId: string): Promise<bigint> {
  const row = await db.maybe<{ last_sequence: bigint }>(
    named(
      "journal_heads_find",
      sql`select last_sequence from journal_heads where org_id = ${idToUuid(orgId)}`,
    ),
  );
  return row?.last_sequence ?? 0n;
}

/**
 * How many entries the organisation had at each time, in the order of the times. An entry counts at the
 * time in its request's id, because the primary key is ordered by this id.
 */
export async function listSequencesAt(
  db: Queryable,
  orgId: string,
  head: bigint,
  times: Date[],
): Promise<bigint[]> {
  const rows = await db.query<{ sequence: bigint | null }>(
    named(
      "journal_sequences_at",
      sql`
        select (
          select org_sequence - 1 from entries
          where org_id = ${idToUuid(orgId)} and id >= uuid_from(t.at) and org_sequence is not null
          order by id limit 1) as sequence
        from unnest(${times}::timestamptz[]) with ordinality as t (at, position)
        order by t.position`,
    ),
  );
  return rows.map(({ sequence }) => sequence ?? head);
}

/** Lists organisations that have an entry, in id order. */
export async function listHeads(
  db: Queryable,
  afterOrgId: string | null,
  limit: number,
): Promise<JournalHead[]> {
  const after = afterOrgId === null ? "00000000-0000-0000-0000-000000000000" : idToUuid(afterOrgId);
  const rows = await db.query<HeadRow & { request_prefix: string | null; id: string | null }>(
    named(
      "journal_heads_list",
      sql`
        select h.org_id, h.last_sequence, e.request_prefix, e.id
        from (
          select * from journal_heads where org_id > ${after} and last_sequence > 0 order by org_id limit ${limit}
        ) h
        left join lateral (
          select request_prefix, id from entries
          where org_id = h.org_id and org_sequence = h.last_sequence offset 0
        ) e on true
        order by h.org_id`,
    ),
  );
  return rows.map((row) => ({
    orgId: uuidToId("org", row.org_id),
    lastSequence: row.last_sequence,
    lastRequestId: row.id === null ? undefined : joinId(row.request_prefix!, row.id),
  }));
}

function headsOf(rows: HeadRow[]): Map<string, bigint> {
  return new Map(rows.map((row) => [uuidToId("org", row.org_id), row.last_sequence]));
}
