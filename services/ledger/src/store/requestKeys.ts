import { named, sql, type Queryable, type Tx } from "@wonrail/kit/db";
import { uuidToId } from "@wonrail/kit/contract/ids";
import { keyOf, type IdempotencyKey, type LedgerRequest, type UsedKey } from "../domain/types";
import { uuidArray } from "./arrays";

/** A used key and its request. */
export interface StoredKey extends UsedKey {
  orgId: string;
  name: string;
}

type Keyed = Pick<LedgerRequest, "orgId" | "key">;

/** The lateral join makes the planner probe the index once per key, also without statistics. */
export async function findKeys(db: Queryable, requests: readonly Keyed[]): Promise<StoredKey[]> {
  const keyed = requests.flatMap(({ orgId, key }) => (key === null ? [] : [{ orgId, key }]));
  if (keyed.length === 0) return [];
  const rows = await db.query<{
    org_id: string;
    scope: string;
    key: string;
    request_id: string;
    body_hash: string;
  }>(
    named(
      "request_keys_find",
      sql`
        select k.org_id, k.scope, k.key, k.request_id, encode(k.body_hash, 'hex') as body_hash
        from unnest(
          ${uuidArray(keyed.map(({ orgId }) => orgId))}::uuid[],
          ${keyed.map(({ key }) => key.scope)}::text[],
          ${keyed.map(({ key }) => key.key)}::text[]) as w (org_id, scope, key)
        cross join lateral (
          select * from request_keys k
          where k.org_id = w.org_id and k.scope = w.scope and k.key = w.key limit 1) k`,
    ),
  );
  return rows.map((row) => {
    const orgId = uuidToId("org", row.org_id);
    return {
      orgId,
      name: keyOf(orgId, row),
      requestId: uuidToId("jrn", row.request_id),
      bodyHash: row.body_hash,
    };
  });
}

export async function findKey(
  db: Queryable,
  orgId: string,
  key: Pick<IdempotencyKey, "scope" | "key">,
): Promise<StoredKey | undefined> {
  const [found] = await findKeys(db, [{ orgId, key: { ...key, bodyHash: "" } }]);
  return found;
}

/** Inserts in key order, so that two batches with the same new keys never deadlock. */
export function insertKeys(tx: Tx, requests: readonly LedgerRequest[], nowMs: number): void {
  tx.push(
    named(
      "request_keys_insert",
      sql`
        insert into request_keys (org_id, scope, key, request_id, body_hash, created_at)
        select org_id, scope, key, request_id, decode(body_hash, 'hex'), ${new Date(nowMs)}::timestamptz
        from unnest(
          ${uuidArray(requests.map(({ orgId }) => orgId))}::uuid[],
          ${requests.map(({ key }) => key!.scope)}::text[],
          ${requests.map(({ key }) => key!.key)}::text[],
          ${uuidArray(requests.map(({ requestId }) => requestId))}::uuid[],
          ${requests.map(({ key }) => key!.bodyHash)}::text[]) as k (org_id, scope, key, request_id, body_hash)
        order by org_id, scope, key`,
    ),
  );
}

/** Deletes the oldest keys from before a time. Returns how many. */
export async function pruneKeys(db: Queryable, before: Date, limit: number): Promise<number> {
  return db.run(sql`
    delete from request_keys where ctid in (
      select ctid from request_keys where created_at < ${before} order by created_at limit ${limit})`);
}
