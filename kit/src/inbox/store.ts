import { createHash } from "node:crypto";
import { named, sql, type Queryable, type Tx } from "../db";
import { idToUuid, uuidToId, type Id } from "../contract/ids";
import type { FeedMessage } from "./planBatch";

/** Inserts the events for this group. Returns the new ones. */
export async function takeEvents(tx: Tx, group: string, ids: Id<"evt">[]): Promise<Set<Id<"evt">>> {
  const rows = await tx.query<{ event_id: string }>(
    named(
      "inbox_take",
      sql`
        insert into inbox (consumer_group, event_id)
        select ${group}::text, event_id from unnest(${ids.map(idToUuid)}::uuid[]) as event (event_id)
        on conflict do nothing
        returning event_id`,
    ),
  );
  return new Set(rows.map(({ event_id }) => uuidToId("evt", event_id)));
}

/** The events that this group has taken before. */
export async function findTaken(db: Queryable, group: string, ids: Id<"evt">[]): Promise<Set<Id<"evt">>> {
  const rows = await db.query<{ event_id: string }>(sql`
    select event_id from inbox where consumer_group = ${group} and event_id = any(${ids.map(idToUuid)}::uuid[])`);
  return new Set(rows.map(({ event_id }) => uuidToId("evt", event_id)));
}

/** The number is null when the message carried none. */
export type DeadMessage = Omit<FeedMessage, "number"> & { number: bigint | null };

export async function insertDeadLetter(
  tx: Tx,
  group: string,
  message: DeadMessage,
  error: unknown,
): Promise<void> {
  const { topic, partition, number, key, headers, value } = message;
  await tx.run(sql`
    insert into dead_letters
      (consumer_group, topic, partition, feed_number, message_key, event_type, headers, payload, error, digest)
    values (${group}, ${topic}, ${partition}, ${number}, ${storable(key)}, ${storable(headers.event_type ?? "")}, ${JSON.stringify(headers)}::json, ${value},
      ${describeError(error)}, ${digestOf(message)})
    on conflict do nothing`);
}

export interface PrunedWindow {
  last_id: string | null;
  old: number;
}

/**
 * Deletes old rows among the group's next ones. Ids sort by time, so a window without an old row is
 * the last one. An event may arrive long after its id was created, such as a replayed dead letter.
 */
export async function pruneInboxWindow(
  db: Queryable,
  group: string,
  afterId: string,
  retainMs: number,
  limit: number,
): Promise<PrunedWindow> {
  const [pruned] = await db.write<PrunedWindow>(sql`
    with seen as (
      select event_id, received_at < now() - ${retainMs} * interval '1 millisecond' as old
      from inbox where consumer_group = ${group} and event_id > ${afterId}::uuid order by event_id limit ${limit}
    ), pruned as (
      delete from inbox i using seen where i.consumer_group = ${group} and i.event_id = seen.event_id and seen.old
    )
    select (select event_id from seen order by event_id desc limit 1) as last_id,
      (count(*) filter (where old))::integer as old
    from seen`);
  return pruned!;
}

/** The error with its stack and its cause, cut to a useful length. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return storable(String(error)).slice(0, 4_000);
  const behind = error.cause instanceof Error ? `\ncaused by ${error.cause.message}` : "";
  return storable((error.stack ?? error.message) + behind).slice(0, 4_000);
}

function digestOf({ topic, key, headers, value }: DeadMessage): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([topic, key, headers]))
    .update(value)
    .digest();
}

/** Postgres cannot store NUL in text. */
function storable(text: string): string {
  return text.replaceAll("\0", "�");
}
