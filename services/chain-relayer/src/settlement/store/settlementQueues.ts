import { named, type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";

/** A place in an organisation's journal. */
export interface JournalPlace {
  orgId: string;
  sequence: bigint;
  /** The request id of that entry; empty where it is unknown. */
  ref: string;
}

/** Pulled position of an organisation's journal, and its head. */
export interface QueueState extends JournalPlace {
  head: bigint;
}

/** The newest entry of an organisation in the ledger. */
export interface JournalHead {
  orgId: string;
  sequence: bigint;
}

/** Moves heads forward, never back. The organisation's first entry creates its queue. */
export async function moveHeads(tx: Queryable, heads: JournalHead[]): Promise<void> {
  if (heads.length === 0) return;
  await tx.run(
    named(
      "move_heads",
      sql`
        insert into settlement_queues (org_id, head_sequence, behind_since)
        select org_id, max(head_sequence), case when max(head_sequence) > 0 then now() end from unnest(
          ${heads.map(({ orgId }) => orgId)}::text[],
          ${heads.map(({ sequence }) => sequence)}::bigint[]) as head (org_id, head_sequence)
        group by org_id order by org_id
        on conflict (org_id) do update set head_sequence = excluded.head_sequence,
          behind_since = case when excluded.head_sequence > settlement_queues.cursor_sequence
            then coalesce(settlement_queues.behind_since, now()) end
        where settlement_queues.head_sequence < excluded.head_sequence`,
    ),
  );
}

/**
 * The queues whose journal may have been replaced: the cursor is beyond the head, or the head has
 * another entry than the one that was pulled under its sequence.
 */
export async function listReplaced(db: Queryable, heads: JournalPlace[]): Promise<QueueState[]> {
  return toPlaces(
    await db.query<PlaceRow>(sql`
      select q.org_id, q.cursor_sequence, q.cursor_ref, q.head_sequence from unnest(
        ${heads.map(({ orgId }) => orgId)}::text[],
        ${heads.map(({ sequence }) => sequence)}::bigint[],
        ${heads.map(({ ref }) => ref)}::text[]) as head (org_id, head_sequence, ref)
      join settlement_queues q on q.org_id = head.org_id
      where q.cursor_sequence > head.head_sequence
        or q.cursor_sequence = head.head_sequence and q.cursor_ref <> head.ref
          and q.cursor_ref <> '' and head.ref <> ''`),
  );
}

/** Queues with entries to pull and few operations left to plan, the longest waiting first. */
export async function listHungryQueues(
  db: Queryable,
  { enoughReady, mostHeldUp, limit }: { enoughReady: number; mostHeldUp: number; limit: number },
): Promise<QueueState[]> {
  const waiting = sql`select from operations o where o.org_id = q.org_id and o.state = 'WAITING'`;
  return toPlaces(
    await db.query<PlaceRow>(sql`
      select org_id, cursor_sequence, cursor_ref, head_sequence from settlement_queues q
      where paused_reason is null and head_sequence > cursor_sequence
        and not exists (${waiting} and o.wait_reason is null offset ${enoughReady - 1})
        and not exists (${waiting} offset ${mostHeldUp - 1})
      order by served_at limit ${limit}`),
  );
}

/** All queues with entries to pull, paused ones as well. */
export async function listBehind(db: Queryable): Promise<QueueState[]> {
  return toPlaces(
    await db.query<PlaceRow>(sql`
      select org_id, cursor_sequence, cursor_ref, head_sequence from settlement_queues
      where head_sequence > cursor_sequence order by org_id`),
  );
}

/** Moves a cursor. Returns false if another replica moved it first. */
export async function moveCursor(
  tx: Tx,
  from: JournalPlace,
  to: Omit<JournalPlace, "orgId"> & { postedAt: Date | null },
): Promise<boolean> {
  const moved = await tx.run(sql`
    update settlement_queues set cursor_sequence = ${to.sequence}, cursor_ref = ${to.ref},
      behind_since = case when head_sequence > ${to.sequence} then coalesce(${to.postedAt}::timestamptz, now()) end
    where org_id = ${from.orgId} and cursor_sequence = ${from.sequence} and cursor_ref = ${from.ref}`);
  return moved === 1;
}

/**
 * Lowers a head beyond the journal's newest entry, unless it has moved since. A restored ledger has
 * fewer entries.
 */
export async function lowerHead(db: Queryable, { orgId, head }: QueueState, sequence: bigint): Promise<void> {
  await db.run(sql`
    update settlement_queues set head_sequence = ${sequence},
      behind_since = case when cursor_sequence < ${sequence} then behind_since end
    where org_id = ${orgId} and head_sequence = ${head} and head_sequence > ${sequence}`);
}

/** Has the entries after a sequence pulled again, in a journal that may have been replaced. */
export async function rewindCursor(
  db: Queryable,
  from: JournalPlace,
  to: Omit<JournalPlace, "orgId">,
  head: bigint,
): Promise<boolean> {
  const rewound = await db.run(sql`
    update settlement_queues set cursor_sequence = ${to.sequence}, cursor_ref = ${to.ref}, head_sequence = ${head},
      behind_since = case when ${head}::bigint > ${to.sequence}::bigint then now() end
    where org_id = ${from.orgId} and cursor_sequence = ${from.sequence} and cursor_ref = ${from.ref}`);
  return rewound === 1;
}

/** Pulls one entry and all later ones again. Pulled entries stay unchanged. */
export async function pullAgainFrom(db: Queryable, orgId: string, sequence: bigint): Promise<void> {
  await db.run(sql`
    update settlement_queues set cursor_sequence = ${sequence - 1n}, cursor_ref = '',
      behind_since = coalesce(behind_since, now())
    where org_id = ${orgId} and cursor_sequence >= ${sequence}`);
}

interface PlaceRow {
  org_id: string;
  cursor_sequence: bigint;
  cursor_ref: string;
  head_sequence: bigint;
}

function toPlaces(rows: PlaceRow[]): QueueState[] {
  return rows.map((row) => ({
    orgId: row.org_id,
    sequence: row.cursor_sequence,
    ref: row.cursor_ref,
    head: row.head_sequence,
  }));
}

/** False if the organisation has no queue. */
export async function setQueuePause(db: Queryable, orgId: string, reason: string | null): Promise<boolean> {
  return (
    (await db.run(sql`update settlement_queues set paused_reason = ${reason} where org_id = ${orgId}`)) === 1
  );
}

/** Pauses every queue that is not paused. Returns their number. */
export function pauseQueues(tx: Tx, reason: string): Promise<number> {
  return tx.run(sql`update settlement_queues set paused_reason = ${reason} where paused_reason is null`);
}

/** Ends the pauses with exactly this reason. Returns their number. */
export function unpauseQueues(tx: Tx, reason: string): Promise<number> {
  return tx.run(sql`update settlement_queues set paused_reason = null where paused_reason = ${reason}`);
}

/** Locks the queue. Returns the reason of its pause, or null if there is no paused queue. */
export async function lockQueuePause(tx: Tx, orgId: string): Promise<string | null> {
  const queue = await tx.maybe<{ reason: string | null }>(sql`
    select paused_reason as reason from settlement_queues where org_id = ${orgId} for no key update`);
  return queue?.reason ?? null;
}

export interface SettlementQueue {
  orgId: string;
  pausedReason: string | null;
  /** Entries in the ledger's journal that are not pulled. */
  queued: bigint;
  /** Since when the oldest of them waits. */
  queuedSince: Date | null;
  /** Among the oldest pulled entries without a plan: those that wait, and unreadable ones. */
  waiting: number;
  blocked: number;
}

export interface QueuesWanted {
  /** Null: the queues of all organisations. */
  orgId: string | null;
  afterOrgId: string;
  isPausedOnly: boolean;
  limit: number;
}

const MOST_UNPLANNED = 1_000;

/** Queues in the order of their organisations' ids. */
export async function listQueues(
  db: Queryable,
  { orgId, afterOrgId, isPausedOnly, limit }: QueuesWanted,
): Promise<SettlementQueue[]> {
  const paused = isPausedOnly ? sql`and paused_reason is not null` : sql``;
  const own = orgId === null ? sql`` : sql`and org_id = ${orgId}`;
  return db.query<SettlementQueue>(sql`
    select q.org_id as "orgId", q.paused_reason as "pausedReason",
      greatest(q.head_sequence - q.cursor_sequence, 0) as queued, q.behind_since as "queuedSince",
      unplanned.waiting, unplanned.blocked
    from (
      select * from settlement_queues where org_id > ${afterOrgId} ${own} ${paused} order by org_id limit ${limit}) q
    cross join lateral (
      select (count(*) filter (where state = 'WAITING'))::integer as waiting,
        (count(*) filter (where state = 'BLOCKED'))::integer as blocked
      from (
        select state from operations o where o.org_id = q.org_id and o.state in ('WAITING', 'BLOCKED')
        order by o.org_sequence limit ${MOST_UNPLANNED}) as oldest) unplanned
    order by q.org_id`);
}

export async function countPausedQueues(db: Queryable): Promise<number> {
  const { count } = await db.one<{ count: bigint }>(
    sql`select count(*) from settlement_queues where paused_reason is not null`,
  );
  return Number(count);
}

export interface Ages {
  oldestSeconds: number;
  /** Age of operations whose paused queue needs an operator. */
  pausedSeconds: number;
}

/** Ages of the oldest row of each queue, from `since`; 0 where there is none. */
export function agesOf(since: Sql, isPaused: Sql = sql`q.paused_reason is not null`): Sql {
  const ageOf = (those: Sql) =>
    sql`coalesce(extract(epoch from now() - min(${since}) filter (where ${those})), 0)::float8`;
  return sql`${ageOf(sql`not (${isPaused})`)} as "oldestSeconds", ${ageOf(isPaused)} as "pausedSeconds"`;
}

/** How many entries wait in the ledger's journal, and since when. */
export async function countQueued(db: Queryable): Promise<Ages & { count: number }> {
  return db.one(sql`
    select coalesce(sum(head_sequence - cursor_sequence), 0)::float8 as count, ${agesOf(sql`behind_since`)}
    from settlement_queues q where head_sequence > cursor_sequence`);
}

/** Moves these queues behind all others. Locks the rows in id order. */
export async function recordServed(db: Queryable, orgIds: string[]): Promise<void> {
  await db.run(sql`
    with locked as (
      select org_id from settlement_queues where org_id = any(${orgIds}::text[]) order by org_id for update)
    update settlement_queues q set served_at = clock_timestamp() from locked where q.org_id = locked.org_id`);
}
