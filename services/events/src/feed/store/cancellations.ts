import { type Queryable, sql, type Tx } from "@wonrail/kit/db";

export interface Cancellation {
  orgId: string;
  cancelId: string;
  /** The charge or payment that was cancelled. */
  objectId: string;
}

export function saveCancellations(tx: Tx, all: Cancellation[]): void {
  if (all.length === 0) return;
  tx.push(sql`
    insert into cancellations (org_id, cancel_id, object_id)
    select * from unnest(
      ${all.map(({ orgId }) => orgId)}::text[],
      ${all.map(({ cancelId }) => cancelId)}::text[],
      ${all.map(({ objectId }) => objectId)}::text[])
    on conflict do nothing`);
}

/** The cancelled objects by the id of the cancellation. Ids are unique across organisations. */
export async function findCancelledObjects(
  db: Queryable,
  all: readonly Pick<Cancellation, "orgId" | "cancelId">[],
): Promise<Map<string, string>> {
  if (all.length === 0) return new Map();
  const rows = await db.query<{ cancel_id: string; object_id: string }>(sql`
    select cancellations.cancel_id, object_id
    from unnest(${all.map(({ orgId }) => orgId)}::text[], ${all.map(({ cancelId }) => cancelId)}::text[])
      as wanted (org_id, cancel_id)
    join cancellations on cancellations.org_id = wanted.org_id and cancellations.cancel_id = wanted.cancel_id`);
  return new Map(rows.map((row) => [row.cancel_id, row.object_id]));
}
