import { sql, type Queryable } from "../db";

/** How far a consumer group has read a feed. */
export interface ConsumerPosition {
  group: string;
  topic: string;
  partitions: number;
  /** Events of all partitions that were handled. */
  events: number;
  /** The last time that a partition moved. */
  /** Null before the first event. */
  movedAt: Date | null;
  /** Events that the group could not handle, and that were not replayed. */
  deadLetters: number;
}

/** Lists the positions in the order of the groups. A group whose position stands still while its topic moves is blocked. */
export function listConsumers(db: Queryable): Promise<ConsumerPosition[]> {
  return db.query<ConsumerPosition>(sql`
    select consumer_group as "group", topic, count(*)::integer as partitions, sum(number)::float8 as events,
      max(moved_at) filter (where isfinite(moved_at)) as "movedAt",
      (select count(*)::integer from dead_letters
        where dead_letters.consumer_group = feed_cursors.consumer_group
          and dead_letters.topic = feed_cursors.topic and replayed_at is null
          and dropped_at is null) as "deadLetters"
    from feed_cursors group by consumer_group, topic order by consumer_group, topic`);
}
