import { type Queryable, sql, type Tx } from "@wonrail/kit/db";

export interface ObjectMetadata {
  orgId: string;
  /** The id of the object or of its cancellation. */
  objectId: string;
  metadata: Record<string, string>;
  /** Counts the changes of the object. */
  version: bigint;
}

/** Keeps the newest version. `all` holds one change per object. */
export function saveChangedMetadata(tx: Tx, all: ObjectMetadata[]): void {
  tx.push(sql`
    insert into changed_metadata (org_id, object_id, metadata, version)
    select org_id, object_id, metadata::json, version from unnest(
      ${all.map(({ orgId }) => orgId)}::text[],
      ${all.map(({ objectId }) => objectId)}::text[],
      ${all.map(({ metadata }) => JSON.stringify(metadata))}::text[],
      ${all.map(({ version }) => version)}::bigint[]) as change (org_id, object_id, metadata, version)
    on conflict (org_id, object_id) do update set metadata = excluded.metadata, version = excluded.version
    where changed_metadata.version < excluded.version`);
}

/** The changed metadata by object. Ids are unique across organisations. */
export async function findChangedMetadata(
  db: Queryable,
  all: readonly Pick<ObjectMetadata, "orgId" | "objectId">[],
): Promise<Map<string, Record<string, string>>> {
  const rows = await db.query<{ object_id: string; metadata: string }>(sql`
    select changed.object_id, metadata::text as metadata
    from unnest(${all.map(({ orgId }) => orgId)}::text[], ${all.map(({ objectId }) => objectId)}::text[])
      as wanted (org_id, object_id)
    join changed_metadata changed on changed.org_id = wanted.org_id and changed.object_id = wanted.object_id`);
  return new Map(rows.map((row) => [row.object_id, JSON.parse(row.metadata) as Record<string, string>]));
}
