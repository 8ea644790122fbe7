import { named, rawSql, sql, type Queryable } from "../db";

export interface OutboxRow {
  id: bigint;
  event_id: string;
  topic: string;
  type: string;
  aggregate_id: string;
  version: bigint;
  org_id: string;
  request_id: string;
  traceparent: string;
  occurred_at: Date;
  payload: Buffer;
}

/** Only one session can hold it; it ends with the session, however that ends. */
export async function tryLockRelay(connection: Queryable, schema: string): Promise<boolean> {
  const { locked } = await connection.one<{ locked: boolean }>(sql`
    select pg_try_advisory_lock(hashtext('outbox relay'), hashtext(${schema})) as locked`);
  return locked;
}

/**
 * Settings of the relay's own session. Its statements are right with index scans only, whatever the statistics of two tables that fill and
 * empty all day say; and a deletion from the pending ones that a crash undoes is published again, which consumers bear anyway.
 */
export async function prepareRelaySession(connection: Queryable): Promise<void> {
  for (const setting of [
    "enable_hashjoin",
    "enable_mergejoin",
    "enable_seqscan",
    "jit",
    "synchronous_commit",
  ]) {
    await connection.run(rawSql(`set ${setting} = off`));
  }
}

/** A row as one read saw it: every transaction older than `horizon` had ended by then. */
export interface PendingRow extends OutboxRow {
  horizon: bigint;
  /** What was asked for again may have been removed at the same moment: it is not there any more, and nothing else of the row is. */
  there: boolean;
}

export async function readPending(
  connection: Queryable,
  afterId: bigint,
  limit: number,
): Promise<PendingRow[]> {
  return connection.query<PendingRow>(
    named(
      "outbox_read_pending",
      sql`
        select pending.id, o.id is not null as there, o.event_id, o.topic, o.type, o.aggregate_id, o.version, o.org_id,
          o.request_id, o.traceparent, o.occurred_at, o.payload, pg_snapshot_xmin(pg_current_snapshot())::text::bigint as horizon
        from (select id from outbox_pending where id > ${afterId} order by id limit ${limit}) as pending
        left join outbox o using (id)
        order by pending.id`,
    ),
  );
}

/** Gives the id of its own transaction, which is younger than every one that wrote what was read before. */
export async function markPublished(connection: Queryable, ids: bigint[]): Promise<bigint> {
  const [row] = await connection.write<{ xid: bigint }>(
    named(
      "outbox_mark_published",
      sql`
        with marked as (delete from outbox_pending where id = any(${ids}::bigint[]))
        select pg_current_xact_id()::text::bigint as xid`,
    ),
  );
  return row!.xid;
}

export interface Backlog {
  pending: number;
  oldest_age_seconds: number;
}

/**
 * The count stops at a number that says "far too many" as well as any larger one. The "offset 0" keeps the look at the oldest from being planned as a join, which
 * reads all that is kept whenever the statistics say that nothing is pending.
 */
export async function readBacklog(db: Queryable): Promise<Backlog> {
  return db.one<Backlog>(sql`
    select
      (select count(*) from (select from outbox_pending order by id limit 100000) as bounded)::integer as pending,
      coalesce((
        select extract(epoch from clock_timestamp() - o.occurred_at)
        from outbox_pending p
        cross join lateral (select occurred_at from outbox where outbox.id = p.id offset 0) o
        order by p.id limit 1
      ), 0)::float8 as oldest_age_seconds`);
}

export interface PublishedRows {
  rows: OutboxRow[];
  /** Where the next question begins. */
  position: bigint;
}

/**
 * What was given to the bus, in the order of the ids. It ends before the first that is not there yet, or is younger than that: whoever wrote a
 * smaller id must have committed, which no transaction takes as long for. A position that is ahead of all there is is of a database that
 * this one was restored from, or is older than.
 */
export async function listPublished(
  db: Queryable,
  after: bigint,
  olderThanMs: number,
  limit: number,
): Promise<PublishedRows> {
  const { newest } = await db.one<{ newest: bigint | null }>(sql`select max(id) as newest from outbox`);
  const from = newest !== null && newest < after ? 0n : after;
  const found = await db.query<OutboxRow & { old: boolean }>(sql`
    select id, event_id, topic, type, aggregate_id, version, org_id, request_id, traceparent, occurred_at, payload,
      occurred_at < now() - ${olderThanMs} * interval '1 millisecond' as old
    from outbox
    where id > ${from} and id < coalesce((select min(id) from outbox_pending), 9223372036854775807)
    order by id limit ${limit}`);
  const young = found.findIndex(({ old }) => !old);
  const rows = young < 0 ? found : found.slice(0, young);
  return { rows, position: rows.at(-1)?.id ?? from };
}

export interface PrunedWindow {
  last_id: bigint | null;
  /** How many rows of the window were old enough; a full window of old rows means that there may be more. */
  old: number;
}

/** Looks at the next rows after `afterId` and removes those that are published and old: by the window, so it never reads far for little. */
export async function pruneWindow(
  db: Queryable,
  afterId: bigint,
  retainMs: number,
  limit: number,
): Promise<PrunedWindow> {
  const [pruned] = await db.write<PrunedWindow>(sql`
    with seen as (
      select id, occurred_at < now() - ${retainMs} * interval '1 millisecond' as old
      from outbox where id > ${afterId} order by id limit ${limit}
    ), pruned as (
      delete from outbox o using seen
      where o.id = seen.id and seen.old and not exists (select from outbox_pending p where p.id = o.id)
    )
    select max(id) as last_id, (count(*) filter (where old))::integer as old from seen`);
  return pruned!;
}

const REPUBLISH_WINDOW = 10_000;

interface RepublishedWindow {
  last_id: bigint | null;
  count: number;
}

/**
 * Puts what was published since then on the bus again; consumers skip what they had. For a bus that lost what it had acknowledged. In windows, since a
 * day of events is more than one statement should read.
 */
export async function republishSince(db: Queryable, since: Date, window = REPUBLISH_WINDOW): Promise<number> {
  let asked = 0;
  for (let afterId: bigint | null = 0n; afterId !== null;) {
    const [seen]: RepublishedWindow[] = await db.write(sql`
      with seen as (select id, occurred_at from outbox where id > ${afterId} order by id limit ${window}),
      asked as (
        insert into outbox_pending (id) select id from seen where occurred_at >= ${since} on conflict do nothing returning id)
      select (select max(id) from seen) as last_id, (select count(*) from asked)::integer as count`);
    asked += seen!.count;
    afterId = seen!.last_id;
  }
  return asked;
}
