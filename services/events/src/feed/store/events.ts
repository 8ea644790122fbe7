import { idToUuid, uuidToId } from "@wonrail/kit/contract/ids";
import { named, type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";
import { type EventType } from "@wonrail/kit/contract/eventTypes";

export interface PublicEvent {
  eventId: string;
  type: EventType;
  /** Per organisation, without gaps. */
  sequence: bigint;
  objectId: string;
  /** Per object, without gaps. */
  objectSequence: bigint;
  createdAt: Date;
  dataJson: string;
}

export interface NewEvent extends PublicEvent {
  orgId: string;
}

/** Which events of an organisation are read: those between two sequences, exclusive and inclusive. */
export interface EventRange {
  orgId: string;
  after: bigint;
  upTo: bigint;
  types: readonly EventType[];
  objectId: string | null;
  isDescending: boolean;
  limit: number;
}

export function insertEvents(tx: Tx, events: NewEvent[]): void {
  if (events.length === 0) return;
  tx.push(
    named(
      "events_insert",
      sql`
        insert into events (org_id, sequence, event_id, type, object_id, object_sequence, created_at, data)
        select org_id, sequence, event_id, type, object_id, object_sequence, created_at, data::json from unnest(
          ${events.map(({ orgId }) => orgId)}::text[],
          ${events.map(({ sequence }) => sequence)}::bigint[],
          ${events.map(({ eventId }) => idToUuid(eventId))}::uuid[],
          ${events.map(({ type }) => type)}::text[],
          ${events.map(({ objectId }) => objectId)}::text[],
          ${events.map(({ objectSequence }) => objectSequence)}::bigint[],
          ${events.map(({ createdAt }) => createdAt)}::timestamptz[],
          ${events.map(({ dataJson }) => dataJson)}::text[])
          as added (org_id, sequence, event_id, type, object_id, object_sequence, created_at, data)`,
    ),
  );
}

interface EventRow {
  event_id: string;
  type: EventType;
  sequence: bigint;
  object_id: string;
  object_sequence: bigint;
  created_at: Date;
  data: string;
}

const COLUMNS = sql`event_id, type, sequence, object_id, object_sequence, created_at, data::text as data`;

/** Each type walks its own index, so a rare type does not read the events of the others. */
export async function listEvents(db: Queryable, range: EventRange): Promise<PublicEvent[]> {
  const { orgId, after, upTo, types, objectId, isDescending, limit } = range;
  const direction = isDescending ? sql`desc` : sql`asc`;
  const within = sql`org_id = ${orgId} and sequence > ${after} and sequence <= ${upTo}`;
  const walk = (filter: Sql): Sql =>
    sql`(select ${COLUMNS} from events where ${within} ${filter} order by sequence ${direction} limit ${limit})`;
  const walks =
    objectId !== null
      ? [walk(sql`and object_id = ${objectId} ${typeFilter(types)}`)]
      : types.length === 0
        ? [walk(sql``)]
        : [...new Set(types)].map((type) => walk(sql`and type = ${type}`));
  const rows = await db.query<EventRow>(sql`
    select * from (${sql.join(walks, sql` union all `)}) as found
    order by sequence ${direction} limit ${limit}`);
  return rows.map(fromRow);
}

function typeFilter(types: readonly EventType[]): Sql {
  return types.length === 0 ? sql`` : sql`and type = any(${[...types]}::text[])`;
}

export async function findEvent(
  db: Queryable,
  orgId: string,
  eventId: string,
): Promise<PublicEvent | undefined> {
  const row = await db.maybe<EventRow>(
    sql`select ${COLUMNS} from events where org_id = ${orgId} and event_id = ${idToUuid(eventId)}`,
  );
  return row && fromRow(row);
}

/** The events of all organisations with this id. */
export async function findEventsById(
  db: Queryable,
  eventId: string,
): Promise<{ orgId: string; type: EventType; objectId: string }[]> {
  return db.query(sql`
    select org_id as "orgId", type, object_id as "objectId" from events where event_id = ${idToUuid(eventId)}`);
}

/** The sequence of the oldest event that is kept; undefined when none is. */
export async function findOldestSequence(db: Queryable, orgId: string): Promise<bigint | undefined> {
  const row = await db.maybe<{ sequence: bigint }>(
    sql`select sequence from events where org_id = ${orgId} order by sequence limit 1`,
  );
  return row?.sequence;
}

/** Deletes one window of events that are older. Returns the number of deleted rows. */
export async function deleteEventsBefore(db: Queryable, keepMs: number, limit: number): Promise<number> {
  return db.run(sql`
    delete from events where ctid = any(array(
      select ctid from events where stored_at < now() - ${keepMs} * interval '1 millisecond' limit ${limit}))`);
}

function fromRow(row: EventRow): PublicEvent {
  return {
    eventId: uuidToId("evt", row.event_id),
    type: row.type,
    sequence: row.sequence,
    objectId: row.object_id,
    objectSequence: row.object_sequence,
    createdAt: row.created_at,
    dataJson: row.data,
  };
}
