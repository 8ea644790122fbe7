import { sql, type Queryable, type Tx } from "../db";

/** An event that a consumer group could not handle. */
export interface DeadLetter {
  id: bigint;
  group: string;
  topic: string;
  partition: number;
  /** The number in the feed; null when the message carried none. */
  number: bigint | null;
  key: string;
  type: string;
  headers: Record<string, string>;
  payload: Buffer;
  error: string;
  failures: number;
  failedAt: Date;
  state: "dead" | "replay_requested" | "replayed" | "dropped";
}

export type DeadLetterSummary = Omit<DeadLetter, "payload" | "headers">;

export interface DeadLetterFilter {
  group?: string;
  /** Excludes replayed and dropped ones by default. */
  state?: DeadLetter["state"];
  /** Newest first, below this id. */
  beforeId?: bigint;
  limit?: number;
}

const DEFAULT_LIMIT = 50;

export async function listDeadLetters(
  db: Queryable,
  filter: DeadLetterFilter = {},
): Promise<DeadLetterSummary[]> {
  const { group = null, state = null, beforeId = null, limit = DEFAULT_LIMIT } = filter;
  return db.query<DeadLetterSummary>(sql`
    select ${COLUMNS} from dead_letters
    where (${group}::text is null or consumer_group = ${group})
      and (${beforeId}::bigint is null or id < ${beforeId})
      and case when ${state}::text is null then replayed_at is null and dropped_at is null else ${STATE} = ${state} end
    order by id desc
    limit ${limit}`);
}

export async function showDeadLetter(db: Queryable, id: bigint): Promise<DeadLetter | undefined> {
  return db.maybe<DeadLetter>(sql`select ${COLUMNS}, headers, payload from dead_letters where id = ${id}`);
}

/**
 * Asks the group's running consumers to retry within seconds, because only they have the handlers.
 * Returns the number of letters. A failed retry is dead again, with its new error.
 */
export async function replayDeadLetters(
  db: Queryable,
  which: { id: bigint } | { group: string },
): Promise<number> {
  const chosen = "id" in which ? sql`id = ${which.id}` : sql`consumer_group = ${which.group}`;
  return db.run(sql`
    update dead_letters set replay_requested_at = now()
    where ${chosen} and replayed_at is null and replay_requested_at is null and dropped_at is null`);
}

/** Gives a dead letter up. False unless it is dead: a requested replay may be in hand. */
export async function dropDeadLetter(db: Queryable, id: bigint): Promise<boolean> {
  const dropped = await db.run(sql`
    update dead_letters set dropped_at = now()
    where id = ${id} and replayed_at is null and replay_requested_at is null and dropped_at is null`);
  return dropped === 1;
}

/** The group's next letter to replay that no other replica has in hand. */
export async function lockNextReplay(tx: Tx, group: string): Promise<DeadLetter | undefined> {
  return tx.maybe<DeadLetter>(sql`
    select ${COLUMNS}, headers, payload from dead_letters
    where consumer_group = ${group} and replay_requested_at is not null
    order by id limit 1
    for update skip locked`);
}

export async function markReplayed(tx: Tx, id: bigint): Promise<void> {
  await tx.run(sql`update dead_letters set replayed_at = now(), replay_requested_at = null where id = ${id}`);
}

export async function markReplayFailed(db: Queryable, id: bigint, error: string): Promise<void> {
  await db.run(sql`
    update dead_letters set error = ${error}, failures = failures + 1, failed_at = now(), replay_requested_at = null
    where id = ${id} and replayed_at is null`);
}

const STATE = sql`
  case when replayed_at is not null then 'replayed' when dropped_at is not null then 'dropped'
    when replay_requested_at is not null then 'replay_requested' else 'dead' end`;
const COLUMNS = sql`
  id, consumer_group as "group", topic, partition, feed_number as number, message_key as key,
  event_type as type, error, failures,
  failed_at as "failedAt", ${STATE} as state`;
