import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type ObjectData, type ObjectState } from "../domain/change";

export interface StoredObject {
  orgId: string;
  objectId: string;
  /** Sequence of the object's newest event. */
  sequence: bigint;
  state: ObjectState;
}

type ObjectKey = Pick<StoredObject, "orgId" | "objectId">;

export function keyOf({ orgId, objectId }: ObjectKey): string {
  return `${orgId} ${objectId}`;
}

export async function findObjects(
  db: Queryable,
  keys: readonly ObjectKey[],
): Promise<Map<string, StoredObject>> {
  const wanted = [...new Map(keys.map((key) => [keyOf(key), key])).values()];
  const rows = await db.query<{
    org_id: string;
    object_id: string;
    sequence: bigint;
    data: string;
    failure_reason: string | null;
  }>(sql`
    select objects.org_id, objects.object_id, sequence, data::text as data, failure_reason
    from unnest(${wanted.map(({ orgId }) => orgId)}::text[], ${wanted.map(({ objectId }) => objectId)}::text[])
      as wanted (org_id, object_id)
    join objects on objects.org_id = wanted.org_id and objects.object_id = wanted.object_id`);
  const found = rows.map((row) => ({
    ...{ orgId: row.org_id, objectId: row.object_id, sequence: row.sequence },
    state: { data: JSON.parse(row.data) as ObjectData, failureReason: row.failure_reason },
  }));
  return new Map(found.map((object) => [keyOf(object), object]));
}

/** The organisation's lock keeps two writers of an object apart. */
export function saveObjects(tx: Tx, objects: StoredObject[]): void {
  if (objects.length === 0) return;
  tx.push(
    named(
      "objects_save",
      sql`
        insert into objects (org_id, object_id, sequence, data, failure_reason)
        select org_id, object_id, sequence, data::json, failure_reason from unnest(
          ${objects.map(({ orgId }) => orgId)}::text[],
          ${objects.map(({ objectId }) => objectId)}::text[],
          ${objects.map(({ sequence }) => sequence)}::bigint[],
          ${objects.map(({ state }) => JSON.stringify(state.data))}::text[],
          ${objects.map(({ state }) => state.failureReason)}::text[])
          as saved (org_id, object_id, sequence, data, failure_reason)
        on conflict (org_id, object_id) do update set
          sequence = excluded.sequence, data = excluded.data, failure_reason = excluded.failure_reason`,
    ),
  );
}
