import { type GetSystemResponse } from "@wonrail/proto/common/v1/admin";
import { type Topic } from "../bus/port";
import { type Queryable, sql } from "../db";
import { version } from "../version";

/** The process that serves the admin RPCs. */
export interface AdminProcess {
  service: string;
  commit: string;
  /** The feed of this service; undefined when it publishes no events. */
  topic: Topic | undefined;
}

const MOST_COUNTED = 10_000;

/** The state of this process, of its schema, of its feed, and of the feeds that it reads. */
export async function getSystem(
  db: Queryable,
  { service, commit, topic }: AdminProcess,
): Promise<GetSystemResponse> {
  const { now } = await db.one<{ now: Date }>(sql`select clock_timestamp() as now`);
  return {
    ...{ service, version, commit, nodeVersion: process.version, now },
    startedAt: new Date(Date.now() - process.uptime() * 1000),
    schema: await listSchemaVersions(db),
    feed: topic && { topic: topic.name, ...(await findFeedState(db)) },
    reading: (await listReadings(db)).map(({ movedAt, ...reading }) => ({
      ...reading,
      // A partition that never moved has no finite time.
      movedAt: movedAt ?? undefined,
    })),
  };
}

type SchemaVersion = GetSystemResponse["schema"][number];

function listSchemaVersions(db: Queryable): Promise<SchemaVersion[]> {
  return db.query<SchemaVersion>(sql`
    select distinct on (set) set, number, name, applied_at as "appliedAt"
    from schema_migrations order by set, number desc`);
}

function findFeedState(db: Queryable) {
  return db.one<{ events: bigint; published: bigint; unnumbered: number }>(sql`
    select coalesce(sum(number), 0)::bigint as events, coalesce(sum(published), 0)::bigint as published,
      (select count(*)::integer from (
        select id from outbox_pending order by id limit ${MOST_COUNTED}) as counted) as unnumbered
    from feed_heads`);
}

interface Reading {
  consumerGroup: string;
  topic: string;
  partitions: number;
  events: bigint;
  movedAt: Date | null;
  deadLetters: number;
}

function listReadings(db: Queryable): Promise<Reading[]> {
  return db.query<Reading>(sql`
    select consumer_group as "consumerGroup", topic, count(*)::integer as partitions, sum(number)::bigint as events,
      max(moved_at) filter (where isfinite(moved_at)) as "movedAt",
      (select count(*)::integer from (
        select from dead_letters d
        where d.consumer_group = c.consumer_group and d.topic = c.topic and d.replayed_at is null
          and d.dropped_at is null
        limit ${MOST_COUNTED}) as counted) as "deadLetters"
    from feed_cursors c group by consumer_group, topic order by consumer_group, topic`);
}
