import { type Database, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type SealedSeed } from "../keys/keyring";

interface SeedRow {
  org_id: string;
  version: number;
  kek_id: string;
  sealed: Buffer;
}

export async function findSeed(db: Queryable, orgId: string): Promise<SealedSeed | undefined> {
  const row = await db.maybe<SeedRow>(
    sql`select org_id, version, kek_id, sealed from seeds where org_id = ${orgId}`,
  );
  return row && toSeed(row);
}

export async function findSeeds(db: Queryable, orgIds: string[]): Promise<Map<string, SealedSeed>> {
  const rows = await db.query<SeedRow>(
    sql`select org_id, version, kek_id, sealed from seeds where org_id = any(${orgIds}::text[])`,
  );
  return new Map(rows.map((row) => [row.org_id, toSeed(row)]));
}

/** The first seed is the organisation's. A concurrent second one is discarded. */
export async function insertSeed(db: Database, seed: SealedSeed): Promise<void> {
  await db.run(sql`
    insert into seeds (org_id, version, kek_id, sealed)
    values (${seed.orgId}, ${seed.version}, ${seed.keyId}, ${seed.bytes})
    on conflict (org_id) do nothing`);
}

/**
 * Takes an index for one wallet; a crash leaves a gap. The index is at least the seconds since
 * 2026, so a restored database does not reuse an index.
 */
export async function reserveKeyIndex(db: Queryable, orgId: string): Promise<number> {
  const [row] = await db.write<{ index: number }>(sql`
    update seeds set next_index = greatest(next_index, extract(epoch from now() - '2026-01-01Z'::timestamptz)::integer) + 1
    where org_id = ${orgId} returning next_index - 1 as index`);
  return row!.index;
}

/**
 * Leaves out key indexes of every organisation, behind the ones that the clock gives. Returns the
 * number of organisations.
 */
export function skipKeyIndexes(tx: Tx, indexes: number): Promise<number> {
  return tx.run(sql`
    update seeds set next_index =
      greatest(next_index, extract(epoch from now() - '2026-01-01Z'::timestamptz)::integer) + ${indexes}`);
}

/** Seeds in the order of their organisations' ids. */
export async function listSeeds(db: Queryable, afterOrgId: string, limit: number): Promise<SealedSeed[]> {
  const rows = await db.query<SeedRow>(sql`
    select org_id, version, kek_id, sealed from seeds where org_id > ${afterOrgId} order by org_id limit ${limit}`);
  return rows.map(toSeed);
}

export async function listSeedsNotUnder(
  db: Queryable,
  kekId: string,
  afterOrgId: string,
  limit: number,
): Promise<SealedSeed[]> {
  const rows = await db.query<SeedRow>(sql`
    select org_id, version, kek_id, sealed from seeds
    where kek_id <> ${kekId} and org_id > ${afterOrgId} order by org_id limit ${limit}`);
  return rows.map(toSeed);
}

/** Returns false when another process has sealed it meanwhile. */
export async function replaceSeal(db: Queryable, before: SealedSeed, after: SealedSeed): Promise<boolean> {
  const changed = await db.run(sql`
    update seeds set kek_id = ${after.keyId}, sealed = ${after.bytes}, resealed_at = now()
    where org_id = ${before.orgId} and kek_id = ${before.keyId} and sealed = ${before.bytes}`);
  return changed === 1;
}

export async function findSeedUnder(db: Queryable, kekId: string): Promise<SealedSeed | undefined> {
  const row = await db.maybe<SeedRow>(
    sql`select org_id, version, kek_id, sealed from seeds where kek_id = ${kekId} limit 1`,
  );
  return row && toSeed(row);
}

export async function countSeedsByKek(db: Queryable): Promise<{ kekId: string; seeds: bigint }[]> {
  const rows = await db.query<{ kek_id: string; seeds: bigint }>(
    sql`select kek_id, count(*) as seeds from seeds group by kek_id order by kek_id`,
  );
  return rows.map((row) => ({ kekId: row.kek_id, seeds: row.seeds }));
}

function toSeed(row: SeedRow): SealedSeed {
  return { orgId: row.org_id, version: row.version, keyId: row.kek_id, bytes: row.sealed };
}
