import { type Queryable, sql } from "@wonrail/kit/db";

export interface Leg {
  orgId: string;
  ledgerRef: string;
  fromWalletId: string;
  nonce: string;
}

/** Legs of ours among these authorizations, by "wallet|nonce". */
export async function findLegs(
  db: Queryable,
  wanted: { fromWalletId: string; nonce: string }[],
): Promise<Map<string, Leg>> {
  const rows = await db.query<{
    from_wallet_id: string;
    nonce: string;
    org_id: string;
    ledger_ref: string;
  }>(sql`
    select legs.* from legs
    join unnest(${wanted.map((one) => one.fromWalletId)}::text[], ${wanted.map((one) => one.nonce)}::text[])
      as wanted (from_wallet_id, nonce) using (from_wallet_id, nonce)`);
  return new Map(
    rows.map((row) => [
      `${row.from_wallet_id}|${row.nonce}`,
      { orgId: row.org_id, ledgerRef: row.ledger_ref, fromWalletId: row.from_wallet_id, nonce: row.nonce },
    ]),
  );
}

/** Which of these legs left to an outside address, by "wallet|nonce". */
export async function findHoldLegs(
  db: Queryable,
  legs: { fromWalletId: string; nonce: string }[],
): Promise<Set<string>> {
  if (legs.length === 0) return new Set();
  const rows = await db.query<{ key: string }>(sql`
    select legs.from_wallet_id || '|' || legs.nonce as key
    from unnest(${legs.map((leg) => leg.fromWalletId)}::text[], ${legs.map((leg) => leg.nonce)}::text[])
      as wanted (from_wallet_id, nonce)
    join legs using (from_wallet_id, nonce)
    join operations using (org_id, ledger_ref)
    where operations.kind = 'INTENT_KIND_PLACE_HOLD'`);
  return new Set(rows.map((row) => row.key));
}
