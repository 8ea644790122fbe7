import { type Queryable, sql, type Tx } from "@wonrail/kit/db";

export interface ObjectMetadata {
  metadata: Record<string, string>;
  version: bigint;
}

/** The changed metadata of these objects. An object that was not changed is left out. */
export async function findChangedMetadata(
  db: Queryable,
  orgId: string,
  ids: string[],
): Promise<Map<string, Record<string, string>>> {
  const rows = await db.query<{ object_id: string; metadata: Record<string, string> }>(sql`
    select object_id, metadata from changed_metadata
    where org_id = ${orgId} and object_id = any(${ids}::text[])`);
  return new Map(rows.map((row) => [row.object_id, row.metadata]));
}

/**
 * Locks the metadata of an object until the transaction ends. The first change starts from the
 * entry's metadata.
 */
export async function lockMetadata(
  tx: Tx,
  orgId: string,
  objectId: string,
  ofEntry: Record<string, string>,
): Promise<ObjectMetadata> {
  await tx.run(sql`
    insert into changed_metadata (org_id, object_id, metadata, version)
    values (${orgId}, ${objectId}, ${sql.json(ofEntry)}, 0)
    on conflict do nothing`);
  return tx.one<ObjectMetadata>(sql`
    select metadata, version from changed_metadata
    where org_id = ${orgId} and object_id = ${objectId} for update`);
}

export async function saveMetadata(
  tx: Tx,
  orgId: string,
  objectId: string,
  { metadata, version }: ObjectMetadata,
): Promise<void> {
  await tx.run(sql`
    update changed_metadata set metadata = ${sql.json(metadata)}, version = ${version}, changed_at = now()
    where org_id = ${orgId} and object_id = ${objectId}`);
}
