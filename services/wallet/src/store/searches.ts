import { type Queryable, type Sql, sql } from "@wonrail/kit/db";
import { won, type Won } from "@wonrail/kit/contract/money";
import { type StoredStatus, type WalletType } from "../domain/wallet";
import { type SigningIntent } from "../domain/signingPolicy";

/** A wallet that a search found. */
export interface FoundWallet {
  orgId: string;
  walletId: string;
  userId: string;
  walletType: WalletType;
  address: string;
  status: StoredStatus;
}

/** Wallets of any organisation with this id, address or user. */
export async function findWallets(db: Queryable, text: string, limit: number): Promise<FoundWallet[]> {
  const walk = (condition: Sql) => sql`
    (select org_id as "orgId", wallet_id as "walletId", user_id as "userId", wallet_type as "walletType", address, status
    from wallets where ${condition} limit ${limit})`;
  return db.query<FoundWallet>(sql`
    ${walk(sql`wallet_id = ${text}`)}
    union ${walk(sql`lower(address) = ${text.toLowerCase()}`)}
    union ${walk(sql`user_id = ${text}`)}
    limit ${limit}`);
}

/** The parts of a wallet that only operators see. */
export interface WalletInternals {
  orgId: string;
  status: StoredStatus;
  closingSince: Date | null;
  timesReopened: number;
  creationKey: string | null;
}

export function findInternals(db: Queryable, walletId: string): Promise<WalletInternals | undefined> {
  return db.maybe<WalletInternals>(sql`
    select org_id as "orgId", status, closing_since as "closingSince", times_reopened as "timesReopened",
      creation_key as "creationKey"
    from wallets where wallet_id = ${walletId}`);
}

/** The amount that was signed for a scope in this hour. */
export async function readVelocity(db: Queryable, scope: string): Promise<Won> {
  const row = await db.maybe<{ amount_won: bigint }>(sql`
    select amount_won from velocity where scope = ${scope} and hour = date_trunc('hour', now())`);
  return won(row?.amount_won ?? 0n);
}

export interface Signing {
  fromWalletId: string;
  kind: SigningIntent["kind"];
  toAddress: string;
  amountWon: Won;
  validBefore: Date;
  signedAt: Date;
}

export interface Refusal {
  fromWalletId: string;
  reason: string;
  refusedAt: Date;
}

const MOST_SIGNINGS = 100;
const MOST_REFUSALS = 20;

/** The authorizations that custody signed for an entry or hold. */
export async function listSigned(db: Queryable, orgId: string, ledgerRef: string): Promise<Signing[]> {
  const rows = await db.query<Omit<Signing, "amountWon"> & { amountWon: bigint }>(sql`
    select from_wallet_id as "fromWalletId", kind, to_address as "toAddress", amount_won as "amountWon",
      valid_before as "validBefore", signed_at as "signedAt"
    from authorizations where org_id = ${orgId} and ledger_ref = ${ledgerRef}
    order by from_wallet_id, kind, to_address limit ${MOST_SIGNINGS}`);
  return rows.map((row) => ({ ...row, amountWon: won(row.amountWon) }));
}

/** The last refusals to sign for it, newest first. */
export function listRefusals(db: Queryable, orgId: string, ledgerRef: string): Promise<Refusal[]> {
  return db.query<Refusal>(sql`
    select from_wallet_id as "fromWalletId", reason, refused_at as "refusedAt" from signing_refusals
    where ledger_ref = ${ledgerRef} and org_id = ${orgId}
    order by refused_at desc limit ${MOST_REFUSALS}`);
}
