import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type EventEnvelope, EventEnvelopes } from "@wonrail/proto/common/v1/common";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { type Ages, agesOf } from "./settlementQueues";

// Entries that wait to become operations, since so many operations wait already.

/** Of a row of `lanes`. */
export const HAS_SHELVED = sql`exists (select from shelved_entries s where s.org_id = lanes.org_id)`;

export interface ShelvedRow {
  shelfId: bigint;
  events: EventEnvelope[];
  since: Date;
}

/** Puts those of one organisation on the shelf; it gets its lane, as with its first operation. */
export function insertShelved(tx: Tx, orgId: string, events: EventEnvelope[]): void {
  const bytes = EventEnvelopes.encode({ events }).finish();
  tx.push(
    named(
      "shelve_entries",
      sql`
    with lane as (insert into lanes (org_id) values (${orgId}) on conflict do nothing)
    insert into shelved_entries (org_id, events, entries) values (${orgId}, ${bytes}, ${events.length})`,
    ),
  );
}

/** The oldest of each of these lanes, in their order: so many entries, and what came together with the last of them. */
export async function listShelved(db: Queryable, orgIds: string[], each: number): Promise<ShelvedRow[]> {
  return toRows(
    await db.query<StoredRow>(sql`
      select shelved.shelf_id, shelved.events, shelved.shelved_at
      from unnest(${orgIds}::text[]) with ordinality as lane (org_id, place)
      cross join lateral (
        select *, sum(entries) over (order by shelf_id) - entries as before from (
          select * from shelved_entries s where s.org_id = lane.org_id order by shelf_id limit ${each}) as oldest) as shelved
      where shelved.before < ${each} order by lane.place, shelved.shelf_id`),
  );
}

/** The oldest of all lanes. */
export async function listShelvedUpTo(db: Queryable, last: bigint, limit: number): Promise<ShelvedRow[]> {
  return toRows(
    await db.query<StoredRow>(sql`
      select shelf_id, events, shelved_at from shelved_entries where shelf_id <= ${last} order by shelf_id limit ${limit}`),
  );
}

/** Null when there is nothing. */
export async function findLastShelved(db: Queryable): Promise<bigint | null> {
  const { last } = await db.one<{ last: bigint | null }>(
    sql`select max(shelf_id) as last from shelved_entries`,
  );
  return last;
}

interface StoredRow {
  shelf_id: bigint;
  events: Buffer;
  shelved_at: Date;
}

function toRows(rows: StoredRow[]): ShelvedRow[] {
  return rows.map((row) => ({
    shelfId: row.shelf_id,
    events: EventEnvelopes.decode(row.events).events,
    since: row.shelved_at,
  }));
}

/** Somebody else has taken some of these rows meanwhile. */
export class TakenByAnother extends Error {
  override readonly name = "TakenByAnother";
}

export async function deleteShelved(tx: Tx, rows: ShelvedRow[]): Promise<void> {
  const ids = rows.map(({ shelfId }) => shelfId);
  const deleted = await tx.run(sql`delete from shelved_entries where shelf_id = any(${ids}::bigint[])`);
  if (deleted !== rows.length) throw new TakenByAnother();
}

export interface BacklogNow {
  /** All lanes together that are not paused have so much waiting that everybody's entries can wait as they come. */
  isEverybodys: boolean;
  /** Whose can anyway: the lane is paused, and there is more waiting than that; or something of it has been on the shelf for a while. */
  orgIds: string[];
}

/** What is taken off again as soon as it is there is no backlog: whose shelf is so young, what comes next can do without it. */
const A_WHILE = sql`interval '5 seconds'`;

/** What waits behind paused lanes holds up nobody else, however much it is; so much is not looked through each time. */
const LOOKED_THROUGH = 5;

export async function findBacklog(db: Queryable, long: number): Promise<BacklogNow> {
  return db.one<BacklogNow>(sql`
    with paused as materialized (select org_id from lanes where paused_reason is not null),
    long as materialized (
      select exists (select from operations where state = 'WAITING' offset ${long - 1}) as yes)
    select
      (select yes from long) and exists (
        select from (select org_id from operations where state = 'WAITING' limit ${LOOKED_THROUGH * long}) as waiting
        where org_id not in (select org_id from paused) offset ${long - 1}) as "isEverybodys",
      array(
        select org_id from paused where (select yes from long)
        union
        select org_id from lanes where now() - ${A_WHILE} >
          (select shelved_at from shelved_entries s where s.org_id = lanes.org_id order by shelf_id limit 1)) as "orgIds"`);
}

/** The next time it is the others' turn. */
export async function noteFed(db: Queryable, orgIds: string[]): Promise<void> {
  await db.run(sql`update lanes set fed_at = clock_timestamp() where org_id = any(${orgIds}::text[])`);
}

export async function listShelvedLanes(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ org_id: string }>(sql`select org_id from lanes where ${HAS_SHELVED}`);
  return rows.map((row) => row.org_id);
}

/** How much waits there, and since when. */
export async function countShelved(db: Queryable): Promise<Ages & { count: number }> {
  return db.one(sql`
    select (select coalesce(sum(entries), 0)::float8 from shelved_entries) as count, ${agesOf(sql`oldest.shelved_at`)}
    from lanes cross join lateral (
      select shelved_at from shelved_entries s where s.org_id = lanes.org_id order by shelf_id limit 1) as oldest`);
}

/** Whose an entry is that waits there. It looks through all of the shelf. */
export async function findOnShelf(db: Queryable, ledgerRef: string): Promise<string | undefined> {
  // Others may name it: the cancellation of a payment does, and a memo can.
  const rows = await db.query<{ org_id: string; events: Buffer }>(sql`
    select org_id, events from shelved_entries where position(convert_to(${ledgerRef}, 'UTF8') in events) > 0`);
  const isIt = ({ payload }: EventEnvelope) => JournalPosted.decode(payload).entry?.requestId === ledgerRef;
  return rows.find(({ events }) => EventEnvelopes.decode(events).events.some(isIt))?.org_id;
}
