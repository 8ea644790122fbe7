// Every statement of the bus on Postgres, in the order of a message's life.
import { named, sql, type Queryable, type Sql } from "../../db";
import { groupBy } from "../../groupBy";
import type { PartitionLag, Topic } from "../port";
import { type MessageRow, type ReadRow, type StoredMessage, type TopicForm, unpack } from "./packing";

/** NOTIFY's channel. A payload names what changed: partitions that got messages, or a group whose members did. */
export const CHANNEL = "bus";
/** Postgres takes less than 8,000 bytes. Whom a cut list leaves out, the poll finds. */
const MAX_PAYLOAD_LENGTH = 7_900;
/** One read hands over this much at most, like a fetch from Kafka; a single larger message comes alone. */
const MAX_READ_BYTES = 1024 * 1024;
const RETENTION_BATCH = 1_000;

/** Of one partition. */
export interface ReadMessages {
  messages: StoredMessage[];
  /** They are as many as it was given room for. */
  mayHaveMore: boolean;
}

export interface Member {
  id: string;
  topics: string[];
}

export interface PartitionState {
  id: number;
  topic: string;
  number: number;
  next_position: bigint;
  /** Null until a member of the group has taken the partition. */
  position: bigint | null;
  owner: string | null;
}

export interface Ownership {
  group: string;
  member: string;
  partitionId: number;
  epoch: bigint;
}

/** A new topic is packed: nobody reads it who cannot. Those from before stay as they are until an operator says that all who read them can. */
export async function insertTopics(db: Queryable, topics: Topic[]): Promise<void> {
  const names = topics.map(({ name }) => name);
  const partitions = topics.map((topic) => topic.partitions);
  await db.run(sql`
    with made as (
      insert into topics (name, partitions, packed)
      select name, partitions, true
      from unnest(${sql.array(names, "text[]")}, ${sql.array(partitions, "integer[]")}) as wanted (name, partitions)
      on conflict do nothing
      returning name, partitions
    )
    insert into partitions (topic, number)
    select name, number from made, generate_series(0, made.partitions - 1) as number`);
}

export async function listMissingTopics(db: Queryable, names: string[]): Promise<string[]> {
  const rows = await db.query<{ name: string }>(sql`
    select wanted.name from unnest(${sql.array(names, "text[]")}) as wanted (name)
    where not exists (select from topics where topics.name = wanted.name)`);
  return rows.map(({ name }) => name);
}

export async function findTopicForms(db: Queryable, names: string[]): Promise<Map<string, TopicForm>> {
  const rows = await db.query<TopicForm & { name: string }>(sql`
    select name, partitions, packed from topics where name = any(${names}::text[])`);
  return new Map(rows.map(({ name, ...form }) => [name, form]));
}

/**
 * Locks the partitions in the order of their ids, numbers the messages, stores and announces them: each step feeds the next, which is what
 * makes Postgres run them in this order. A partition that does not exist violates messages.partition_id's not null.
 */
export async function appendRows(db: Queryable, rows: MessageRow[]): Promise<void> {
  await db.run(
    named(
      "bus_append",
      sql`
    with batch as materialized (
      select given.*, partitions.id as partition_id
      from unnest(
        ${rows.map(({ topic }) => topic)}::text[],
        ${rows.map(({ partition }) => partition)}::integer[],
        ${rows.map(({ before }) => before)}::integer[],
        ${rows.map(({ messages }) => messages)}::integer[],
        ${rows.map(({ key }) => key)}::text[],
        ${rows.map(({ value }) => value)}::bytea[],
        ${rows.map(({ headers }) => headers)}::text[]
      ) as given (topic, number, before, messages, key, value, headers)
      left join partitions on partitions.topic = given.topic and partitions.number = given.number
    ),
    added as (
      select partition_id, sum(messages) as messages from batch group by partition_id
    ),
    locked as materialized (
      select id, next_position from partitions
      where id in (select partition_id from added)
      order by id
      for no key update
    ),
    advanced as (
      update partitions set next_position = locked.next_position + added.messages
      from locked join added on added.partition_id = locked.id
      where partitions.id = locked.id
      returning partitions.id, locked.next_position as first_position
    ),
    stored as (
      insert into messages (partition_id, position, key, value, headers, stored_at, messages)
      select batch.partition_id, advanced.first_position + batch.before, batch.key, batch.value, batch.headers::json, clock_timestamp(), batch.messages
      from batch left join advanced on advanced.id = batch.partition_id
    )
    select pg_notify(${CHANNEL}, left('partitions ' || string_agg(partition_id::text, ','), ${MAX_PAYLOAD_LENGTH})) from added`,
    ),
  );
}

/** Nobody says of himself that he lives for longer: who seems to has said it before the database's clock was set back, and may have died since. */
const LONGEST_LIFE = sql`interval '2 minutes'`;
const IS_ALIVE = sql`alive_until > now() and alive_until <= now() + ${LONGEST_LIFE}`;

/** Says that the member is alive, and forgets those that have long not been. */
export async function upsertMember(
  db: Queryable,
  { group, member, topics, leaseMs }: { group: string; member: string; topics: string[]; leaseMs: number },
): Promise<void> {
  await db.run(
    named(
      "bus_heartbeat",
      sql`
    with forgotten as (
      delete from members
      where group_name = ${group} and member_id <> ${member} and not alive_until between now() - ${LONGEST_LIFE} and now() + ${LONGEST_LIFE}
    )
    insert into members (group_name, member_id, topics, alive_until)
    values (${group}, ${member}, ${sql.array(topics, "text[]")}, now() + ${leaseMs} * interval '1 millisecond')
    on conflict (group_name, member_id) do update set alive_until = excluded.alive_until`,
    ),
  );
}

export async function listMembers(db: Queryable, group: string): Promise<Member[]> {
  return db.query<Member>(
    named(
      "bus_members",
      sql`
    select member_id as id, topics from members
    where group_name = ${group} and ${IS_ALIVE}
    order by member_id`,
    ),
  );
}

export async function listPartitions(
  db: Queryable,
  group: string,
  topics: string[],
): Promise<PartitionState[]> {
  return db.query<PartitionState>(
    named(
      "bus_partitions",
      sql`
    select partitions.id, partitions.topic, partitions.number, partitions.next_position, cursors.position, cursors.owner
    from partitions
    left join cursors on cursors.partition_id = partitions.id and cursors.group_name = ${group}
    where partitions.topic = any(${sql.array(topics, "text[]")})
    order by partitions.id`,
    ),
  );
}

/**
 * Takes those of the partitions that nobody alive owns. The epoch grows, so what an owner before still does comes to nothing. A group that is new starts at
 * the oldest message that is kept: what was dropped before was not its own to read.
 */
export async function claimPartitions(
  db: Queryable,
  group: string,
  member: string,
  partitionIds: number[],
): Promise<{ partition_id: number; position: bigint; epoch: bigint }[]> {
  return db.write(sql`
    insert into cursors as mine (group_name, partition_id, position, owner, epoch)
    select ${group}, id, coalesce((select min(position) from messages where partition_id = id), next_position), ${member}, 1
    from partitions where id = any(${sql.array(partitionIds, "integer[]")})
    order by id
    on conflict (group_name, partition_id) do update set owner = excluded.owner, epoch = mine.epoch + 1
      where mine.owner is null
         or mine.owner = excluded.owner
         or not exists (
           select from members
           where group_name = ${group} and member_id = mine.owner and ${IS_ALIVE}
         )
    returning partition_id, position, epoch`);
}

/** The next messages of each partition, in order; nothing for a partition that has another owner by now. They share the limit. */
export async function readMessages(
  db: Queryable,
  partitions: (Ownership & { position: bigint })[],
  limit: number,
): Promise<Map<number, ReadMessages>> {
  const { group, member } = partitions[0]!;
  const each = Math.floor(limit / partitions.length);
  const eachBytes = Math.ceil(MAX_READ_BYTES / partitions.length);
  const rows = await db.query<{ partition_id: number } & (ReadRow | { position: null })>(
    named(
      "bus_read",
      sql`
    select cursors.partition_id, next.position, next.messages, next.key, next.value, next.headers, next.stored_at
    from unnest(
      ${partitions.map(({ partitionId }) => partitionId)}::integer[],
      ${partitions.map(({ epoch }) => epoch)}::bigint[],
      ${partitions.map(({ position }) => position)}::bigint[]) as wanted (partition_id, epoch, position)
    join cursors on cursors.group_name = ${group} and cursors.partition_id = wanted.partition_id
      and cursors.owner = ${member} and cursors.epoch = wanted.epoch
    left join lateral (
      select * from (
        select *, sum(octet_length(value)) over earlier as bytes_before, sum(messages) over earlier as messages_before
        from (
          select position, messages, key, value, headers, stored_at from messages
          where partition_id = wanted.partition_id and position >= ${rowOf(sql`wanted.partition_id`, sql`wanted.position`)}
            and position + messages > wanted.position
          order by position limit ${each}
        ) as candidates
        window earlier as (order by position rows between unbounded preceding and 1 preceding)
      ) as sized
      where coalesce(bytes_before, 0) < ${eachBytes} and coalesce(messages_before, 0) < ${each}
    ) as next on true
    order by cursors.partition_id, next.position`,
    ),
  );
  const positions = new Map(partitions.map(({ partitionId, position }) => [partitionId, position]));
  const read = new Map<number, ReadMessages>();
  for (const [partitionId, ofPartition] of groupBy(rows, (row) => row.partition_id)) {
    const found = ofPartition.filter((row): row is typeof row & ReadRow => row.position !== null);
    const messages = found.flatMap((row) => unpack(row, positions.get(partitionId)!)).slice(0, each);
    const [count, bytes] = [sum(found, (row) => row.messages), sum(found, ({ value }) => value.length)];
    read.set(partitionId, { messages, mayHaveMore: count >= each || bytes >= eachBytes });
  }
  return read;
}

function sum<T>(items: T[], of: (item: T) => number): number {
  return items.reduce((all, item) => all + of(item), 0);
}

/** Where the row of a partition begins that has the message of a position, or would have it, if there is one before. */
function rowOf(partitionId: Sql, position: Sql): Sql {
  return sql`
    coalesce((
      select max(at.position) from messages as at where at.partition_id = ${partitionId} and at.position <= ${position}), 0)`;
}

/**
 * Gives the partitions that are still the member's: what was done of another will come to its new owner again. The commit is not waited for on the disk:
 * what a crash of Postgres takes back of it is delivered again, which every handler bears.
 */
export async function moveCursors(
  db: Queryable,
  partitions: (Ownership & { position: bigint })[],
): Promise<Set<number>> {
  const { group, member } = partitions[0]!;
  const moved = await db.write<{ partition_id: number }>(
    named(
      "bus_commit",
      sql`
    update cursors set position = done.position
    from unnest(
      ${partitions.map(({ partitionId }) => partitionId)}::integer[],
      ${partitions.map(({ epoch }) => epoch)}::bigint[],
      ${partitions.map(({ position }) => position)}::bigint[]) as done (partition_id, epoch, position)
    where cursors.group_name = ${group} and cursors.partition_id = done.partition_id and cursors.owner = ${member}
      and cursors.epoch = done.epoch and set_config('synchronous_commit', 'off', true) = 'off'
    returning cursors.partition_id`,
    ),
  );
  return new Set(moved.map((row) => row.partition_id));
}

export async function releasePartition(
  db: Queryable,
  group: string,
  member: string,
  partitionId: number,
): Promise<void> {
  await db.run(sql`
    update cursors set owner = null
    where group_name = ${group} and owner = ${member} and partition_id = ${partitionId}`);
}

export async function deleteMember(db: Queryable, group: string, member: string): Promise<void> {
  await db.run(sql`
    with released as (
      update cursors set owner = null where group_name = ${group} and owner = ${member}
    )
    delete from members where group_name = ${group} and member_id = ${member}`);
}

export async function announceGroup(db: Queryable, group: string): Promise<void> {
  await db.run(sql`select pg_notify(${CHANNEL}, ${`group ${group}`})`);
}

export async function readLag(db: Queryable, group: string, topics: string[]): Promise<PartitionLag[]> {
  const rows = await db.query<{ topic: string; partition: number; messages: bigint; age_ms: number }>(
    named(
      "bus_lag",
      sql`
    select partitions.topic, partitions.number as partition,
           coalesce(partitions.next_position - oldest.position, 0) as messages,
           coalesce(extract(epoch from clock_timestamp() - oldest.stored_at) * 1000, 0)::float8 as age_ms
    from partitions
    left join cursors on cursors.partition_id = partitions.id and cursors.group_name = ${group}
    left join lateral (
      select greatest(position, coalesce(cursors.position, 0)) as position, stored_at from messages
      where partition_id = partitions.id and position >= ${rowOf(sql`partitions.id`, sql`coalesce(cursors.position, 0)`)}
        and position + messages > coalesce(cursors.position, 0)
      order by messages.position limit 1
    ) as oldest on true
    where partitions.topic = any(${sql.array(topics, "text[]")})
    order by partitions.topic, partitions.number`,
    ),
  );
  return rows.map(({ topic, partition, messages, age_ms }) => ({
    topic,
    partition,
    messages: Number(messages),
    oldestAgeMs: Math.max(0, age_ms),
  }));
}

/** A batch of each partition's oldest rows, as far as they are past their time. Gives how many went. */
export async function deleteExpired(db: Queryable, retentionMs: number): Promise<number> {
  return db.run(sql`
    delete from messages using partitions
    cross join lateral (
      select position, stored_at from messages as oldest
      where oldest.partition_id = partitions.id
      order by position limit ${RETENTION_BATCH}
    ) as oldest
    where messages.partition_id = partitions.id and messages.position = oldest.position
      and oldest.stored_at < now() - ${retentionMs} * interval '1 millisecond'`);
}
