import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type EventEnvelope, EventEnvelopes } from "@wonrail/proto/common/v1/common";

// Entries that wait to become operations, since so many operations wait already.

export interface ShelvedRow {
  shelfId: bigint;
  events: EventEnvelope[];
}

/** Puts those of one organisation on the shelf; it gets its lane, as with its first operation. */
export function insertShelved(tx: Tx, orgId: string, events: EventEnvelope[]): void {
  const bytes = Buffer.from(EventEnvelopes.encode({ events }).finish());
  tx.push(
    named(
      "shelve_entries",
      sql`
    with lane as (insert into lanes (org_id) values (${orgId}) on conflict do nothing)
    insert into shelved_entries (org_id, events, entries) values (${orgId}, ${bytes}, ${events.length})`,
    ),
  );
}

/** The oldest of a lane: so many entries, and what came together with the last of them. */
export async function listShelved(db: Queryable, orgId: string, entries: number): Promise<ShelvedRow[]> {
  const rows = await db.query<{ shelf_id: bigint; events: Buffer }>(sql`
    select shelf_id, events from (
      select shelf_id, events, sum(entries) over (order by shelf_id) - entries as before
      from shelved_entries where org_id = ${orgId} order by shelf_id limit ${entries}) as oldest
    where before < ${entries} order by shelf_id`);
  return rows.map((row) => ({
    shelfId: row.shelf_id,
    events: EventEnvelopes.decode(row.events).events,
  }));
}

/** Of two that take the same rows, the second fails. */
export async function deleteShelved(tx: Tx, rows: ShelvedRow[]): Promise<void> {
  const ids = rows.map(({ shelfId }) => shelfId);
  const deleted = await tx.run(sql`delete from shelved_entries where shelf_id = any(${ids}::bigint[])`);
  if (deleted !== rows.length) throw new Error("somebody else has taken entries off the shelf meanwhile");
}

export async function listShelvedLanes(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ org_id: string }>(sql`
    select org_id from lanes where exists (select from shelved_entries s where s.org_id = lanes.org_id)`);
  return rows.map((row) => row.org_id);
}

/** How much waits there, and since when. */
export async function countShelved(db: Queryable): Promise<{ count: number; oldestSeconds: number }> {
  return db.one(sql`
    select coalesce(sum(entries), 0)::float8 as count,
      coalesce(extract(epoch from now() - min(shelved_at)), 0)::float8 as "oldestSeconds"
    from shelved_entries`);
}

/** Whose an entry is that waits there. It looks through all of the shelf. */
export async function findOnShelf(db: Queryable, ledgerRef: string): Promise<{ orgId: string } | undefined> {
  return db.maybe(sql`
    select org_id as "orgId" from shelved_entries where position(convert_to(${ledgerRef}, 'UTF8') in events) > 0 limit 1`);
}
