import { sql, type Queryable, type Tx } from "@wonrail/kit/db";
import { idToUuid, uuidToId, type Id } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { type Organisation, type OrganisationStatus } from "../domain/organisations";
import { type Plan } from "../domain/plans";

const columns = sql`
  org_id, code, name, status, plan, subscription_starts_at, subscription_ends_at, incentive_rate_bps,
  daily_transfer_limit_won, daily_charge_limit_won, rate_per_second, rate_burst, version, created_at, updated_at`;

/**
 * An organisation, its secret's hash, and the database's time of the read. Every expiry is judged
 * by this time.
 */
export interface OrganisationAt {
  organisation: Organisation;
  secretHash: Buffer;
  now: Date;
}

export async function insertOrganisation(
  tx: Tx,
  organisation: Organisation,
  secretHash: Buffer,
): Promise<void> {
  const o = organisation;
  await tx.run(sql`
    insert into organisations (${columns}, secret_key_hash)
    values (${idToUuid(o.orgId)}, ${o.code}, ${o.name}, ${o.status}, ${o.plan}, ${o.subscriptionStartsAt},
      ${o.subscriptionEndsAt}, ${o.incentiveRateBps}, ${o.dailyTransferLimitWon}, ${o.dailyChargeLimitWon}, ${o.ratePerSecond},
      ${o.rateBurst},      ${o.version}, ${o.createdAt}, ${o.updatedAt}, ${secretHash})`);
}

export async function updateOrganisation(
  tx: Tx,
  organisation: Organisation,
  secretHash: Buffer,
): Promise<void> {
  const o = organisation;
  await tx.run(sql`
    update organisations set name = ${o.name}, status = ${o.status}, plan = ${o.plan},
      subscription_starts_at = ${o.subscriptionStartsAt}, subscription_ends_at = ${o.subscriptionEndsAt},
      incentive_rate_bps = ${o.incentiveRateBps}, daily_transfer_limit_won = ${o.dailyTransferLimitWon},
      daily_charge_limit_won = ${o.dailyChargeLimitWon}, rate_per_second = ${o.ratePerSecond},
      rate_burst = ${o.rateBurst}, version = ${o.version}, updated_at = ${o.updatedAt}, secret_key_hash = ${secretHash}
    where org_id = ${idToUuid(o.orgId)}`);
}

/**
 * Takes the lock that every change of an organisation, its keys or its audit trail needs. The time
 * is read under the lock, so a call that waited decides by the current time.
 */
export async function lockOrganisation(tx: Tx, orgId: Id<"org">): Promise<OrganisationAt | undefined> {
  const row = await tx.maybe<OrganisationRow>(sql`
    with locked as materialized (
      select ${columns}, secret_key_hash from organisations where org_id = ${idToUuid(orgId)} for no key update
    )
    select locked.*, clock_timestamp() as now from locked`);
  return row && organisationFromRow(row);
}

export async function findOrganisation(db: Queryable, orgId: Id<"org">): Promise<OrganisationAt | undefined> {
  const row = await db.maybe<OrganisationRow>(sql`
    select ${columns}, secret_key_hash, clock_timestamp() as now
    from organisations where org_id = ${idToUuid(orgId)}`);
  return row && organisationFromRow(row);
}

export async function findOrganisationByCode(
  db: Queryable,
  code: string,
): Promise<OrganisationAt | undefined> {
  const row = await db.maybe<OrganisationRow>(sql`
    select ${columns}, secret_key_hash, clock_timestamp() as now from organisations where code = ${code}`);
  return row && organisationFromRow(row);
}

/** Organisations by code, after the given one. */
export async function listOrganisations(
  db: Queryable,
  afterCode: string,
  limit: number,
): Promise<OrganisationAt[]> {
  const rows = await db.query<OrganisationRow>(sql`
    select ${columns}, secret_key_hash, clock_timestamp() as now
    from organisations where code > ${afterCode} order by code limit ${limit}`);
  return rows.map(organisationFromRow);
}

/** The database's time, for a change that reads no row first. */
export async function databaseTime(db: Queryable): Promise<Date> {
  const { now } = await db.one<{ now: Date }>(sql`select clock_timestamp() as now`);
  return now;
}

export interface OrganisationRow {
  org_id: string;
  code: string;
  name: string;
  status: OrganisationStatus;
  plan: Plan;
  subscription_starts_at: Date;
  subscription_ends_at: Date;
  incentive_rate_bps: number;
  daily_transfer_limit_won: bigint;
  daily_charge_limit_won: bigint;
  rate_per_second: number;
  rate_burst: number;
  version: bigint;
  created_at: Date;
  updated_at: Date;
  secret_key_hash: Buffer;
  now: Date;
}

export function organisationFromRow(row: OrganisationRow): OrganisationAt {
  const organisation: Organisation = {
    orgId: uuidToId("org", row.org_id),
    code: row.code,
    name: row.name,
    status: row.status,
    plan: row.plan,
    subscriptionStartsAt: row.subscription_starts_at,
    subscriptionEndsAt: row.subscription_ends_at,
    incentiveRateBps: row.incentive_rate_bps,
    dailyTransferLimitWon: won(row.daily_transfer_limit_won),
    dailyChargeLimitWon: won(row.daily_charge_limit_won),
    ratePerSecond: row.rate_per_second,
    rateBurst: row.rate_burst,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
  return { organisation, secretHash: row.secret_key_hash, now: row.now };
}
