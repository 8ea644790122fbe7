import { type Queryable, sql } from "@wonrail/kit/db";

export type DriftKind =
  | "CHAIN"
  | "LEDGER"
  | "SUPPLY"
  | "ORGANISATION"
  | "UNKNOWN_OPERATION"
  | "UNEXPLAINED_MINT";

/** A place where books are compared. */
export interface DriftPlace {
  orgId: string;
  /** Empty when no wallet is concerned. */
  walletId: string;
  kind: DriftKind;
  subject: string;
}

/** Something that should be equal and is not. */
export interface NewDrift extends DriftPlace {
  expected: bigint;
  actual: bigint;
  blockNumber: bigint;
}

export interface Drift extends NewDrift {
  driftId: bigint;
  foundAt: Date;
  acknowledgedAt: Date | null;
  acknowledgedBy: string | null;
  /** When the books agreed there again. */
  resolvedAt: Date | null;
}

interface DriftRow {
  drift_id: bigint;
  org_id: string;
  wallet_id: string;
  kind: DriftKind;
  subject: string;
  expected: bigint;
  actual: bigint;
  block_number: bigint;
  found_at: Date;
  acknowledged_at: Date | null;
  acknowledged_by: string | null;
  resolved_at: Date | null;
}

/**
 * Stores new drifts. An acknowledged drift with the same difference is not stored again until it
 * was resolved.
 */
export async function saveDrifts(db: Queryable, drifts: NewDrift[]): Promise<NewDrift[]> {
  if (drifts.length === 0) return [];
  const rows = await db.write<DriftRow>(sql`
    insert into drifts (org_id, wallet_id, kind, subject, expected, actual, block_number)
    select found.* from unnest(
      ${drifts.map((one) => one.orgId)}::text[],
      ${drifts.map((one) => one.walletId)}::text[],
      ${drifts.map((one) => one.kind)}::text[],
      ${drifts.map((one) => one.subject)}::text[],
      ${drifts.map((one) => one.expected)}::numeric[],
      ${drifts.map((one) => one.actual)}::numeric[],
      ${drifts.map((one) => one.blockNumber)}::bigint[]) as found (org_id, wallet_id, kind, subject, expected, actual, block_number)
    left join lateral (
      select d.actual - d.expected as difference, d.resolved_at from drifts d
      where d.org_id = found.org_id and d.wallet_id = found.wallet_id and d.kind = found.kind and d.subject = found.subject
      order by d.drift_id desc limit 1) as latest on true
    where latest.difference is distinct from found.actual - found.expected or latest.resolved_at is not null
    on conflict (org_id, wallet_id, kind, subject) where acknowledged_at is null
      do update set expected = excluded.expected, actual = excluded.actual, block_number = excluded.block_number, resolved_at = null
    returning *`);
  return rows.map(toDrift);
}

/** Keys of unresolved drifts. An unknown operation stays one for ever. */
export async function findOpenDrifts(db: Queryable): Promise<Set<string>> {
  const rows = await db.query<Pick<DriftRow, "org_id" | "wallet_id" | "kind" | "subject">>(sql`
    select distinct org_id, wallet_id, kind, subject from drifts
    where resolved_at is null and kind not in ('UNKNOWN_OPERATION', 'UNEXPLAINED_MINT')`);
  return new Set(
    rows.map(({ org_id: orgId, wallet_id: walletId, kind, subject }) =>
      placeKey({ orgId, walletId, kind, subject }),
    ),
  );
}

export function placeKey({ orgId, walletId, kind, subject }: DriftPlace): string {
  return `${kind}|${orgId}|${walletId}|${subject}`;
}

/** An unacknowledged drift stays open for operators, because its disappearance explains nothing. */
export async function resolveDrifts(db: Queryable, places: DriftPlace[]): Promise<void> {
  if (places.length === 0) return;
  await db.run(sql`
    update drifts d set resolved_at = now()
    from unnest(
      ${places.map((one) => one.orgId)}::text[],
      ${places.map((one) => one.walletId)}::text[],
      ${places.map((one) => one.kind)}::text[],
      ${places.map((one) => one.subject)}::text[]) as place (org_id, wallet_id, kind, subject)
    where d.org_id = place.org_id and d.wallet_id = place.wallet_id and d.kind = place.kind and d.subject = place.subject
      and d.resolved_at is null`);
}

export async function listDrifts(
  db: Queryable,
  { all, limit }: { all: boolean; limit: number },
): Promise<Drift[]> {
  const open = all ? sql`true` : sql`acknowledged_at is null`;
  const rows = await db.query<DriftRow>(
    sql`select * from drifts where ${open} order by drift_id desc limit ${limit}`,
  );
  return rows.map(toDrift);
}

/** Unacknowledged drifts of a wallet, newest first. */
export async function listDriftsOfWallet(db: Queryable, walletId: string, limit: number): Promise<Drift[]> {
  const rows = await db.query<DriftRow>(sql`
    select * from drifts where wallet_id = ${walletId} and acknowledged_at is null
    order by drift_id desc limit ${limit}`);
  return rows.map(toDrift);
}

/** Allows the wallet's outflow again. Returns the number of open drifts. */
export async function acknowledgeDrifts(
  db: Queryable,
  which: { walletId: string } | { driftId: bigint },
  acknowledgedBy: string,
): Promise<Drift[]> {
  const chosen = "walletId" in which ? sql`wallet_id = ${which.walletId}` : sql`drift_id = ${which.driftId}`;
  const rows = await db.write<DriftRow>(sql`
    update drifts set acknowledged_at = now(), acknowledged_by = ${acknowledgedBy}
    where ${chosen} and acknowledged_at is null
    returning *`);
  return rows.map(toDrift);
}

export interface OpenDrifts {
  kind: DriftKind;
  count: number;
  /** Sum of all differences, regardless of direction, in token units. */
  units: bigint;
}

export async function countOpenDrifts(db: Queryable): Promise<OpenDrifts[]> {
  const rows = await db.query<{ kind: DriftKind; count: bigint; units: bigint }>(sql`
    select kind, count(*) as count, sum(abs(actual - expected)) as units from drifts where acknowledged_at is null group by kind`);
  return rows.map((row) => ({ kind: row.kind, count: Number(row.count), units: row.units }));
}

function toDrift(row: DriftRow): Drift {
  return {
    driftId: row.drift_id,
    orgId: row.org_id,
    walletId: row.wallet_id,
    kind: row.kind,
    subject: row.subject,
    expected: row.expected,
    actual: row.actual,
    blockNumber: row.block_number,
    foundAt: row.found_at,
    acknowledgedAt: row.acknowledged_at,
    acknowledgedBy: row.acknowledged_by,
    resolvedAt: row.resolved_at,
  };
}
