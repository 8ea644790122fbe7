import { named, rawSql, sql, type Queryable } from "../db";

export interface OutboxRow {
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

/** An event with its place in the feed. */
export interface NumberedRow extends OutboxRow {
  partition: number;
  number: bigint;
}

/** Only one session of a schema holds the lock. It ends with the session. */
export async function tryLockRelay(connection: Queryable, schema: string): Promise<boolean> {
  const { locked } = await connection.one<{ locked: boolean }>(sql`
    select pg_try_advisory_lock(hashtext('outbox relay'), hashtext(${schema})) as locked`);
  return locked;
}

/**
 * Keeps the planner of the relay's session on index scans: statistics of tables that fill and empty
 * all day are always wrong.
 */
export async function prepareRelaySession(connection: Queryable): Promise<void> {
  for (const setting of ["enable_hashjoin", "enable_mergejoin", "enable_seqscan", "jit"])
    await connection.run(rawSql(`set ${setting} = off`));
}

/** An event that was committed and has no number yet. */
export interface PendingRow {
  id: bigint;
  topic: string;
  aggregate_id: string;
  occurred_at: Date;
}

export async function readPending(connection: Queryable, limit: number): Promise<PendingRow[]> {
  return connection.query<PendingRow>(
    named(
      "outbox_read_pending",
      sql`
        select pending.id, o.topic, o.aggregate_id, o.occurred_at
        from (select id from outbox_pending order by id limit ${limit}) as pending
        join outbox o using (id)
        order by pending.id`,
    ),
  );
}

/** The last number of each partition. New partitions start at 0. */
export async function readHeads(connection: Queryable, partitions: number): Promise<bigint[]> {
  await connection.run(sql`
    insert into feed_heads (partition)
    select partition from generate_series(0, ${partitions - 1}) as partition
    on conflict do nothing`);
  const rows = await connection.query<{ number: bigint }>(sql`
    select number from feed_heads where partition < ${partitions} order by partition`);
  return rows.map(({ number }) => number);
}

export interface Position {
  id: bigint;
  partition: number;
  number: bigint;
}

/**
 * Numbers the events and removes them from the pending ones, in one transaction. Its commit is
 * durable before publishing, so no number is reused after a crash.
 */
export async function stampEvents(connection: Queryable, positions: Position[]): Promise<void> {
  const heads = new Map(positions.map(({ partition, number }) => [partition, number]));
  await connection.run(
    named(
      "outbox_stamp",
      sql`
        with removed as (
          delete from outbox_pending where id = any(${positions.map(({ id }) => id)}::bigint[])
        ), stamped as (
          insert into feed_positions (partition, number, outbox_id)
          select partition, number, id
          from unnest(
            ${positions.map(({ partition }) => partition)}::integer[],
            ${positions.map(({ number }) => number)}::bigint[],
            ${positions.map(({ id }) => id)}::bigint[]
          ) as position (partition, number, id)
        )
        update feed_heads h set number = head.number
        from unnest(${[...heads.keys()]}::integer[], ${[...heads.values()]}::bigint[])
          as head (partition, number)
        where h.partition = head.partition`,
    ),
  );
}

/** The events that Kafka has not acknowledged yet, each partition in order. */
export async function readUnpublished(db: Queryable, limitPerPartition: number): Promise<NumberedRow[]> {
  return db.query<NumberedRow>(
    named(
      "outbox_read_unpublished",
      sql`
        select p.partition, p.number, ${EVENT}
        from feed_heads h
        cross join lateral (
          select * from feed_positions
          where partition = h.partition and number > h.published
          order by number limit ${limitPerPartition}
        ) p
        cross join lateral (select * from outbox where id = p.outbox_id offset 0) o
        where h.number > h.published
        order by p.partition, p.number`,
    ),
  );
}

/** A crash may undo it: the events are then published again, and consumers skip them. */
export async function markPublished(db: Queryable, rows: readonly NumberedRow[]): Promise<void> {
  const last = new Map(rows.map(({ partition, number }) => [partition, number]));
  await db.run(
    named(
      "outbox_mark_published",
      sql`
        with setting as (select set_config('synchronous_commit', 'off', true))
        update feed_heads h set published = greatest(published, last.number)
        from unnest(${[...last.keys()]}::integer[], ${[...last.values()]}::bigint[])
          as last (partition, number), setting
        where h.partition = last.partition`,
    ),
  );
}

export interface FeedHeadRow {
  partition: number;
  number: bigint;
  /** Null when no event of the partition is kept. */
  oldest: bigint | null;
  /** Id of the stored event at the requested number. */
  event_id: string | null;
}

/** The heads of all partitions, with the events at the given numbers. */
export async function readFeedHeads(
  db: Queryable,
  cursors: readonly { partition: number; number: bigint }[],
): Promise<FeedHeadRow[]> {
  return db.query<FeedHeadRow>(
    named(
      "feed_read_heads",
      sql`
        select h.partition, h.number,
          (select p.number from feed_positions p where p.partition = h.partition order by p.number limit 1) as oldest,
          (select o.event_id from feed_positions p join outbox o on o.id = p.outbox_id
            where p.partition = h.partition and p.number = asked.number) as event_id
        from feed_heads h
        left join unnest(
          ${cursors.map(({ partition }) => partition)}::integer[], ${cursors.map(({ number }) => number)}::bigint[]
        ) as asked (partition, number) on asked.partition = h.partition
        order by h.partition`,
    ),
  );
}

/**
 * The events after the given numbers, limited by count and bytes; the first one may exceed the
 * bytes.
 */
export async function readFeed(
  db: Queryable,
  cursors: readonly { partition: number; number: bigint }[],
  limit: number,
  maxBytes: number,
): Promise<NumberedRow[]> {
  return db.query<NumberedRow>(
    named(
      "feed_read_events",
      sql`
        select * from (
          select p.partition, p.number, ${EVENT},
            p.number - c.number as distance,
            sum(octet_length(o.payload)) over (order by p.number - c.number, p.partition) as bytes
          from unnest(
            ${cursors.map(({ partition }) => partition)}::integer[], ${cursors.map(({ number }) => number)}::bigint[]
          ) as c (partition, number)
          cross join lateral (
            select * from feed_positions
            where partition = c.partition and number > c.number order by number limit ${limit}
          ) p
          cross join lateral (select * from outbox where id = p.outbox_id offset 0) o
          order by p.number - c.number, p.partition
          limit ${limit}
        ) as event
        where bytes - octet_length(payload) < ${maxBytes}
        order by distance, partition`,
    ),
  );
}

const EVENT = sql`
  o.event_id, o.topic, o.type, o.aggregate_id, o.version, o.org_id, o.request_id, o.traceparent, o.occurred_at, o.payload`;

export interface Backlog {
  pending: number;
  oldest_age_seconds: number;
}

/**
 * Unpublished events: those without a number and, with Kafka, those that it has not acknowledged.
 * The count stops at 100,000. "offset 0" keeps the planner from reading the whole outbox.
 */
export async function readBacklog(db: Queryable, withKafka: boolean): Promise<Backlog> {
  return db.one<Backlog>(sql`
    with unpublished as (
      select h.partition, h.number - h.published as events,
        (select p.outbox_id from feed_positions p
          where p.partition = h.partition and p.number > h.published order by p.number limit 1) as first_id
      from feed_heads h where ${withKafka} and h.number > h.published
    ), waiting as (
      (select id from outbox_pending order by id limit 1) union all select first_id from unpublished
    )
    select
      least(100000, (select count(*) from (select from outbox_pending limit 100000) as bounded)
        + (select coalesce(sum(events), 0) from unpublished))::integer as pending,
      greatest(0, coalesce((
        select max(extract(epoch from clock_timestamp() - o.occurred_at))
        from waiting cross join lateral (select occurred_at from outbox where outbox.id = waiting.id offset 0) o
      ), 0))::float8 as oldest_age_seconds`);
}

/** Deletes a partition's oldest events up to the first younger one. Returns the number. */
export async function pruneWindow(
  db: Queryable,
  partition: number,
  retainMs: number,
  limit: number,
): Promise<number> {
  const [row] = await db.write<{ pruned: number }>(sql`
    with seen as (
      select p.number, p.outbox_id, o.occurred_at < now() - ${retainMs} * interval '1 millisecond' as old
      from (
        select number, outbox_id from feed_positions
        where partition = ${partition} order by number limit ${limit}
      ) p
      cross join lateral (select occurred_at from outbox where id = p.outbox_id offset 0) o
    ), old as (
      select number, outbox_id from seen
      where number < coalesce((select min(number) from seen where not old), 9223372036854775807)
    ), positions as (
      delete from feed_positions p using old where p.partition = ${partition} and p.number = old.number
    ), events as (
      delete from outbox o using old where o.id = old.outbox_id
    )
    select count(*)::integer as pruned from old`);
  return row!.pruned;
}
