import { named, sql, type Queryable, type Sql, type Tx } from "@wonrail/kit/db";
import { idToUuid, uuidToId, type Id } from "@wonrail/kit/contract/ids";
import { isApiVersion } from "@wonrail/kit/contract/apiVersions";
import { assert } from "@wonrail/kit/contract/errors";
import { isScope } from "@wonrail/kit/contract/scopes";
import { MAX_OFFSET_ROWS, type Page, rowsToRead } from "@wonrail/kit/page";
import { type ApiKey } from "../domain/keys";
import { organisationFromRow, type OrganisationAt, type OrganisationRow } from "./organisations";

const columns = sql`
  org_id, key_id, lineage_id, predecessor_id, prefix, key_hash, salt, version, issued_at, expires_at, superseded_at,
  overlap_ends_at, revoked_at, name, scopes, allowed_addresses, api_version, last_used_at`;

export async function insertApiKey(tx: Tx, key: ApiKey): Promise<void> {
  await tx.run(sql`
    insert into api_keys (${columns})
    values (${idToUuid(key.orgId)}, ${idToUuid(key.keyId)}, ${idToUuid(key.lineageId)},
      ${key.predecessorId && idToUuid(key.predecessorId)}, ${key.prefix}, ${key.hash}, ${key.salt}, ${key.version},
      ${key.issuedAt}, ${key.expiresAt}, ${key.supersededAt}, ${key.overlapEndsAt}, ${key.revokedAt},
      ${key.name}, ${sql.array([...key.scopes], "text[]")},
      ${sql.array([...key.allowedAddresses], "text[]")}, ${key.apiVersion}, ${key.lastUsedAt})`);
}

/** Updates the fields that change during a key's life. */
export async function updateApiKey(tx: Tx, key: ApiKey): Promise<void> {
  await tx.run(sql`
    update api_keys set version = ${key.version}, superseded_at = ${key.supersededAt},
      overlap_ends_at = ${key.overlapEndsAt}, revoked_at = ${key.revokedAt}
    where org_id = ${idToUuid(key.orgId)} and key_id = ${idToUuid(key.keyId)}`);
}

/** Moves the ends of the keys nearer. No end is before the issue. */
export async function moveKeyEnds(tx: Tx, orgId: Id<"org">, byMs: number): Promise<void> {
  const nearer = (column: Sql) =>
    sql`greatest(issued_at + interval '1 millisecond', ${column} - ${byMs} * interval '1 millisecond')`;
  await tx.run(sql`
    update api_keys set expires_at = ${nearer(sql`expires_at`)},
      overlap_ends_at = case when overlap_ends_at is not null then ${nearer(sql`overlap_ends_at`)} end
    where org_id = ${idToUuid(orgId)}`);
}

/** Ends a usable key at this time. */
export async function endApiKey(tx: Tx, key: ApiKey, at: Date): Promise<ApiKey> {
  const row = await tx.one<ApiKeyRow>(sql`
    update api_keys set expires_at = greatest(issued_at + interval '1 millisecond', ${at}::timestamptz),
      overlap_ends_at = case when overlap_ends_at is not null
        then least(overlap_ends_at, greatest(issued_at + interval '1 millisecond', ${at}::timestamptz)) end
    where org_id = ${idToUuid(key.orgId)} and key_id = ${idToUuid(key.keyId)}
    returning ${columns}`);
  return fromRow(row);
}

export interface Credentials extends OrganisationAt {
  key: ApiKey;
}

/**
 * Finds a key without its organisation, because the key determines it. For an unknown prefix it
 * returns another key, so that both refusals take the same time; compare the prefix. Undefined when
 * there are no keys.
 */
export async function findCredentials(db: Queryable, prefix: string): Promise<Credentials | undefined> {
  const row = await db.maybe<OrganisationRow & ApiKeyRow & { key_version: bigint; key_name: string }>(
    named(
      "find_credentials",
      sql`
        select o.org_id, o.code, o.name, o.status, o.plan, o.subscription_starts_at, o.subscription_ends_at,
          o.incentive_rate_bps, o.daily_transfer_limit_won, o.daily_charge_limit_won, o.max_charge_won,
          o.rate_per_second, o.rate_burst, o.version, o.created_at, o.updated_at, o.secret_key_hash,
          k.key_id, k.lineage_id, k.predecessor_id, k.prefix, k.key_hash, k.salt,
          k.version as key_version, k.issued_at, k.expires_at, k.superseded_at, k.overlap_ends_at, k.revoked_at,
          k.name as key_name, k.scopes, k.allowed_addresses, k.api_version, k.last_used_at,
          clock_timestamp() as now
        from api_keys k join organisations o using (org_id)
        where k.prefix = coalesce(
          (select prefix from api_keys where prefix = ${prefix}),
          (select prefix from api_keys order by prefix limit 1))`,
    ),
  );
  return (
    row && {
      ...organisationFromRow(row),
      key: fromRow({ ...row, version: row.key_version, name: row.key_name }),
    }
  );
}

export async function findApiKey(
  db: Queryable,
  orgId: Id<"org">,
  keyId: Id<"key">,
): Promise<ApiKey | undefined> {
  const row = await db.maybe<ApiKeyRow>(sql`
    select ${columns} from api_keys where org_id = ${idToUuid(orgId)} and key_id = ${idToUuid(keyId)}`);
  return row && fromRow(row);
}

export async function findOrganisationKeyByPrefix(
  db: Queryable,
  orgId: Id<"org">,
  prefix: string,
): Promise<ApiKey | undefined> {
  const row = await db.maybe<ApiKeyRow>(sql`
    select ${columns} from api_keys where org_id = ${idToUuid(orgId)} and prefix = ${prefix}`);
  return row && fromRow(row);
}

/** The keys that were refreshed from this key, directly or through other keys; oldest first. */
export async function listSuccessors(tx: Tx, orgId: Id<"org">, keyId: Id<"key">): Promise<ApiKey[]> {
  const rows = await tx.query<ApiKeyRow>(sql`
    with recursive successors as (
      select k.key_id from api_keys k
      where k.org_id = ${idToUuid(orgId)} and k.predecessor_id = ${idToUuid(keyId)}
      union
      select k.key_id from api_keys k join successors s on k.predecessor_id = s.key_id
      where k.org_id = ${idToUuid(orgId)}
    )
    select ${columns} from api_keys
    where org_id = ${idToUuid(orgId)} and key_id in (select key_id from successors)
    order by key_id`);
  return rows.map(fromRow);
}

/** The lineage's key that is neither superseded nor revoked. */
export async function findCurrentKey(
  tx: Tx,
  orgId: Id<"org">,
  lineageId: Id<"key">,
): Promise<ApiKey | undefined> {
  const row = await tx.maybe<ApiKeyRow>(sql`
    select ${columns} from api_keys
    where org_id = ${idToUuid(orgId)} and lineage_id = ${idToUuid(lineageId)}
      and superseded_at is null and revoked_at is null`);
  return row && fromRow(row);
}

export async function countUsableKeys(
  tx: Tx,
  orgId: Id<"org">,
  now: Date,
): Promise<{ usable: number; firstEndsAt: Date | null }> {
  const row = await tx.one<{ usable: bigint; first_ends_at: Date | null }>(sql`
    select count(*) as usable, min(coalesce(overlap_ends_at, expires_at)) as first_ends_at from api_keys
    where org_id = ${idToUuid(orgId)} and revoked_at is null and coalesce(overlap_ends_at, expires_at) > ${now}`);
  return { usable: Number(row.usable), firstEndsAt: row.first_ends_at };
}

/** Newest first. */
export async function listApiKeys(db: Queryable, orgId: Id<"org">, limit: number): Promise<ApiKey[]> {
  const rows = await db.query<ApiKeyRow>(sql`
    select ${columns} from api_keys where org_id = ${idToUuid(orgId)} order by key_id desc limit ${limit}`);
  return rows.map(fromRow);
}

/** A page of all keys, newest first, with the database's time. */
export async function listKeyPage(
  db: Queryable,
  orgId: Id<"org">,
  page: Page,
): Promise<{ rows: ApiKey[]; total: number; now: Date }> {
  const org = idToUuid(orgId);
  const after = page.after === null ? sql`` : sql`and key_id < ${idToUuid(page.after)}`;
  const rows = await db.query<ApiKeyRow>(sql`
    select ${columns} from api_keys where org_id = ${org} ${after}
    order by key_id desc limit ${rowsToRead(page)} offset ${page.offset}`);
  const { total, now } = await db.one<{ total: bigint; now: Date }>(sql`
    select count(*) as total, clock_timestamp() as now
    from (select from api_keys where org_id = ${org} limit ${MAX_OFFSET_ROWS + 1}) as counted`);
  return { rows: rows.map(fromRow), total: Number(total), now };
}

export interface KeyUse {
  readonly orgId: Id<"org">;
  readonly keyId: Id<"key">;
  readonly usedAt: Date;
}

/** Skips keys that another transaction holds: their next use is written later. */
export async function saveKeyUses(db: Queryable, uses: readonly KeyUse[]): Promise<void> {
  const orgIds = sql.array(
    uses.map(({ orgId }) => idToUuid(orgId)),
    "uuid[]",
  );
  const keyIds = sql.array(
    uses.map(({ keyId }) => idToUuid(keyId)),
    "uuid[]",
  );
  const times = sql.array(
    uses.map(({ usedAt }) => usedAt),
    "timestamptz[]",
  );
  await db.run(sql`
    with free as (
      select k.org_id, k.key_id, given.used_at
      from unnest(${orgIds}, ${keyIds}, ${times}) as given (org_id, key_id, used_at)
      join api_keys k on k.org_id = given.org_id and k.key_id = given.key_id
      for no key update of k skip locked
    )
    update api_keys k set last_used_at = greatest(k.last_used_at, free.used_at)
    from free where k.org_id = free.org_id and k.key_id = free.key_id`);
}

interface ApiKeyRow {
  org_id: string;
  key_id: string;
  lineage_id: string;
  predecessor_id: string | null;
  prefix: string;
  key_hash: Buffer;
  salt: Buffer | null;
  version: bigint;
  issued_at: Date;
  expires_at: Date;
  superseded_at: Date | null;
  overlap_ends_at: Date | null;
  revoked_at: Date | null;
  name: string;
  scopes: string[];
  allowed_addresses: string[];
  api_version: string;
  last_used_at: Date | null;
}

function fromRow(row: ApiKeyRow): ApiKey {
  assert(isApiVersion(row.api_version), "a key has a version of the API");
  return {
    name: row.name,
    // A scope of a later release gives nothing in this one.
    scopes: row.scopes.filter(isScope),
    allowedAddresses: row.allowed_addresses,
    apiVersion: row.api_version,
    lastUsedAt: row.last_used_at,
    orgId: uuidToId("org", row.org_id),
    keyId: uuidToId("key", row.key_id),
    lineageId: uuidToId("key", row.lineage_id),
    predecessorId: row.predecessor_id === null ? null : uuidToId("key", row.predecessor_id),
    prefix: row.prefix,
    hash: row.key_hash,
    salt: row.salt,
    version: row.version,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    supersededAt: row.superseded_at,
    overlapEndsAt: row.overlap_ends_at,
    revokedAt: row.revoked_at,
  };
}
