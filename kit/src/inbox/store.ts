import { createHash } from "node:crypto";
import type { ReceivedMessage } from "../bus/port";
import { named, sql, type Queryable, type Tx } from "../db";
import { idToUuid, uuidToId, type Id } from "../contract/ids";

/** Takes the events for this group: gives those that it has not had. */
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

/** Which of the events this group has had. */
export async function findTaken(db: Queryable, group: string, ids: Id<"evt">[]): Promise<Set<Id<"evt">>> {
  const rows = await db.query<{ event_id: string }>(sql`
    select event_id from inbox where consumer_group = ${group} and event_id = any(${ids.map(idToUuid)}::uuid[])`);
  return new Set(rows.map(({ event_id }) => uuidToId("evt", event_id)));
}

export async function insertDeadLetter(
  tx: Tx,
  group: string,
  message: ReceivedMessage,
  error: unknown,
): Promise<void> {
  const { topic, partition, offset, key, headers, value } = message;
  await tx.run(sql`
    insert into dead_letters
      (consumer_group, topic, partition, message_offset, message_key, event_type, headers, payload, error, digest)
    values (${group}, ${topic}, ${partition}, ${offset}, ${storable(key)}, ${storable(headers.event_type ?? "")}, ${JSON.stringify(headers)}::json, ${value},
      ${describeError(error)}, ${digestOf(message)})
    on conflict do nothing`);
}

export interface PrunedWindow {
  last_id: string | null;
  old: number;
}

/**
 * Looks at the group's next rows and removes the old ones. Ids sort by time, so a window without any old one is the last; one that has both may
 * be anywhere, since an event may come long after its id was made, as a replayed dead letter does.
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

/** What a handler threw, with its stack and what was behind it, as long as it helps. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return storable(String(error)).slice(0, 4_000);
  const behind = error.cause instanceof Error ? `\ncaused by ${error.cause.message}` : "";
  return storable((error.stack ?? error.message) + behind).slice(0, 4_000);
}

function digestOf({ topic, key, headers, value }: ReceivedMessage): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([topic, key, headers]))
    .update(value)
    .digest();
}

/** Postgres' text has no place for NUL. */
function storable(text: string): string {
  return text.replaceAll("\0", "�");
}
