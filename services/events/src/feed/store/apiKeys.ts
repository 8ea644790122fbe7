import { type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";
import { type ObjectData } from "../domain/change";
import { type ExpiringKey } from "../domain/keys";

export function saveKey(tx: Tx, { orgId, keyId, issuedAt, expiresAt, data }: ExpiringKey): void {
  tx.push(sql`
    insert into api_keys (org_id, key_id, issued_at, expires_at, data)
    values (${orgId}, ${keyId}, ${issuedAt.toISOString()}, ${expiresAt.toISOString()}, ${JSON.stringify(data)})
    on conflict do nothing`);
}

/**
 * Lets time pass for the keys of an organisation. Their lives stay as long, so each warning is due
 * as in real time.
 */
export async function moveKeys(tx: Tx, orgId: string, byMs: number): Promise<void> {
  const earlier = (column: Sql) => sql`${column} - ${byMs} * interval '1 millisecond'`;
  await tx.run(sql`
    update api_keys set issued_at = ${earlier(sql`issued_at`)}, expires_at = ${earlier(sql`expires_at`)}
    where org_id = ${orgId}`);
}

/** A refreshed or revoked key needs no warning. */
export function deleteKey(tx: Tx, orgId: string, keyId: string): void {
  tx.push(sql`delete from api_keys where org_id = ${orgId} and key_id = ${keyId}`);
}

/** Locks keys that expire within the days. Leaves out keys that were warned of by as few days, and keys that live no longer. */
export async function lockExpiringKeys(tx: Tx, days: number, limit: number): Promise<ExpiringKey[]> {
  const rows = await tx.query<{
    org_id: string;
    key_id: string;
    issued_at: Date;
    expires_at: Date;
    data: ObjectData;
  }>(sql`
    select org_id, key_id, issued_at, expires_at, data from api_keys
    where expires_at > now() and expires_at <= now() + ${days} * interval '1 day'
      and (warned_days is null or warned_days > ${days})
      and expires_at - issued_at > ${days} * interval '1 day'
    order by expires_at, key_id limit ${limit} for update skip locked`);
  return rows.map((row) => ({
    ...{ orgId: row.org_id, keyId: row.key_id, issuedAt: row.issued_at, expiresAt: row.expires_at },
    // A test clock moves the end, and a read of the key shows the moved one.
    data: { ...row.data, expiresAt: row.expires_at.toISOString() },
  }));
}

export function saveWarnings(tx: Tx, keys: readonly ExpiringKey[], days: number): void {
  tx.push(sql`
    update api_keys set warned_days = ${days}
    where (org_id, key_id) in (
      select * from unnest(${keys.map(({ orgId }) => orgId)}::text[], ${keys.map(({ keyId }) => keyId)}::text[]))`);
}

/** Returns the number of deleted rows. */
export async function deleteExpiredKeys(db: Queryable, limit: number): Promise<number> {
  return db.run(sql`
    delete from api_keys where ctid = any(array(select ctid from api_keys where expires_at < now() limit ${limit}))`);
}
