import { sql, named, type Queryable, type Tx } from "../db";

/** A consumer group's position in one partition of a feed. */
export interface Cursor {
  partition: number;
  number: bigint;
  /** UUID of the event handled under that number; null when it is unknown. */
  eventId: string | null;
}

/** Locks the cursors until the transaction ends: two replicas never handle a partition at the same time. */
export async function lockCursors(
  tx: Tx,
  group: string,
  topic: string,
  partitions: readonly number[],
): Promise<Map<number, Cursor>> {
  const lock = () =>
    tx.query<Cursor>(
      named(
        "feed_lock_cursors",
        sql`
          select partition, number, event_id as "eventId" from feed_cursors
          where consumer_group = ${group} and topic = ${topic} and partition = any(${[...partitions]}::integer[])
          order by partition for no key update`,
      ),
    );
  let cursors = await lock();
  if (cursors.length < partitions.length) {
    await ensureCursors(tx, group, topic, partitions);
    cursors = await lock();
  }
  return new Map(cursors.map((cursor) => [cursor.partition, cursor]));
}

export function saveCursors(tx: Tx, group: string, topic: string, cursors: readonly Cursor[]): void {
  tx.push(
    named(
      "feed_save_cursors",
      sql`
        update feed_cursors c set number = moved.number, event_id = moved.event_id, moved_at = now()
        from unnest(
          ${cursors.map(({ partition }) => partition)}::integer[],
          ${cursors.map(({ number }) => number)}::bigint[],
          ${cursors.map(({ eventId }) => eventId)}::uuid[]
        ) as moved (partition, number, event_id)
        where c.consumer_group = ${group} and c.topic = ${topic} and c.partition = moved.partition`,
    ),
  );
}

/**
 * A partition starts at 0. It counts as quiet at once, so a feed reader looks at it immediately.
 */
export async function ensureCursors(
  db: Queryable,
  group: string,
  topic: string,
  partitions: readonly number[],
): Promise<void> {
  await db.run(sql`
    insert into feed_cursors (consumer_group, topic, partition, moved_at)
    select ${group}, ${topic}, partition, '-infinity'
    from unnest(${[...partitions]}::integer[]) as partition
    on conflict do nothing`);
}

/** The cursors that have not moved for so long. */
export async function readCursors(
  db: Queryable,
  group: string,
  topic: string,
  quietMs = 0,
): Promise<Cursor[]> {
  return db.query<Cursor>(
    named(
      "feed_read_cursors",
      sql`
        select partition, number, event_id as "eventId" from feed_cursors
        where consumer_group = ${group} and topic = ${topic}
          and moved_at <= now() - ${quietMs} * interval '1 millisecond'
        order by partition`,
    ),
  );
}

/** Sets a cursor back, unless it has moved since it was read. */
export async function resetCursor(
  db: Queryable,
  group: string,
  topic: string,
  { partition, number, eventId }: Cursor,
  to: bigint,
): Promise<void> {
  await db.run(sql`
    update feed_cursors set number = ${to}, event_id = null
    where consumer_group = ${group} and topic = ${topic} and partition = ${partition}
      and number = ${number} and event_id is not distinct from ${eventId}::uuid`);
}

/**
 * Whether this replica is the feed's reader for this long. A lease with an impossibly late end
 * stems from a clock that was ahead, and is ignored.
 */
export async function leaseReader(
  db: Queryable,
  group: string,
  topic: string,
  holder: string,
  leaseMs: number,
): Promise<boolean> {
  const leased = await db.run(
    named(
      "feed_lease_reader",
      sql`
        insert into feed_readers as r (consumer_group, topic, holder, leased_until)
        values (${group}, ${topic}, ${holder}, now() + ${leaseMs} * interval '1 millisecond')
        on conflict (consumer_group, topic) do update set holder = excluded.holder, leased_until = excluded.leased_until
        where r.holder = excluded.holder or r.leased_until < now() or r.leased_until > excluded.leased_until`,
    ),
  );
  return leased > 0;
}

/** Lets another replica take over at once. */
export async function releaseReader(
  db: Queryable,
  group: string,
  topic: string,
  holder: string,
): Promise<void> {
  await db.run(sql`
    delete from feed_readers where consumer_group = ${group} and topic = ${topic} and holder = ${holder}`);
}
