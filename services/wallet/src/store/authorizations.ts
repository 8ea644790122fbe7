import { type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { type Leg, type SignedLeg, type SigningIntent } from "../domain/signingPolicy";

/** The key of the leg's one row. */
export function legKey({ orgId, ledgerRef, fromWalletId, kind, toAddress }: Leg): string {
  return [orgId, ledgerRef, fromWalletId, kind, toAddress.toLowerCase()].join("|");
}

/** Locks all authorizations of these legs' operations until the transaction ends. */
export async function lockAuthorizations(tx: Tx, legs: Leg[]): Promise<Map<string, SignedLeg>> {
  const rows = await tx.query<{
    org_id: string;
    ledger_ref: string;
    from_wallet_id: string;
    kind: Leg["kind"];
    to_address: string;
    nonce: Buffer;
    amount_won: bigint;
  }>(sql`
    select a.* from authorizations a
    join unnest(${legs.map((leg) => leg.orgId)}::text[], ${legs.map((leg) => leg.ledgerRef)}::text[])
      as wanted (org_id, ledger_ref) using (org_id, ledger_ref)
    order by a.org_id, a.ledger_ref, a.from_wallet_id, a.kind, a.to_address
    for update of a`);
  const signed = rows.map((row) => ({
    orgId: row.org_id,
    ledgerRef: row.ledger_ref,
    fromWalletId: row.from_wallet_id,
    kind: row.kind,
    toAddress: row.to_address,
    nonce: row.nonce.toString("hex"),
    amountWon: won(row.amount_won),
  }));
  return new Map(signed.map((leg) => [legKey(leg), leg]));
}

/**
 * Two signers can meet on a new leg. The second insert waits for the first and changes nothing, so
 * its count is short.
 */
export async function saveAuthorizations(tx: Tx, granted: SigningIntent[]): Promise<number> {
  // A leg that occurs twice in a call is written once.
  const intents = [...new Map(granted.map((intent) => [legKey(intent), intent])).values()];
  if (intents.length === 0) return 0;
  return tx.run(sql`
    insert into authorizations (org_id, ledger_ref, from_wallet_id, kind, to_address, nonce, amount_won, valid_before)
    select * from unnest(
      ${intents.map((intent) => intent.orgId)}::text[],
      ${intents.map((intent) => intent.ledgerRef)}::text[],
      ${intents.map((intent) => intent.fromWalletId)}::text[],
      ${intents.map((intent) => intent.kind)}::text[],
      ${intents.map((intent) => intent.toAddress.toLowerCase())}::text[],
      ${intents.map((intent) => Buffer.from(intent.nonce, "hex"))}::bytea[],
      ${intents.map((intent) => intent.amountWon)}::bigint[],
      ${intents.map((intent) => new Date(intent.validBeforeMs))}::timestamptz[])
    on conflict (org_id, ledger_ref, from_wallet_id, kind, to_address) do update
      set signed_at = now(), valid_before = greatest(authorizations.valid_before, excluded.valid_before)
      where (authorizations.nonce, authorizations.amount_won) = (excluded.nonce, excluded.amount_won)`);
}

/** The latest end signed for one ledger entry or hold; null when nothing was signed for it. */
export async function findLatestEnd(db: Queryable, orgId: string, ledgerRef: string): Promise<Date | null> {
  const [row] = await db.query<{ latest: Date | null }>(sql`
    select max(valid_before) as latest from authorizations
    where org_id = ${orgId} and ledger_ref = ${ledgerRef}`);
  return row!.latest;
}

/** Stores a repeated refusal of an operation once an hour, because the relayer asks repeatedly. */
export async function insertRefusals(
  db: Queryable,
  refusals: { orgId: string; ledgerRef: string; fromWalletId: string; reason: string }[],
): Promise<void> {
  await db.run(sql`
    insert into signing_refusals (org_id, ledger_ref, from_wallet_id, reason)
    select distinct * from unnest(
      ${refusals.map((refusal) => refusal.orgId)}::text[],
      ${refusals.map((refusal) => refusal.ledgerRef)}::text[],
      ${refusals.map((refusal) => refusal.fromWalletId)}::text[],
      ${refusals.map((refusal) => refusal.reason)}::text[]) as refused (org_id, ledger_ref, from_wallet_id, reason)
    where not exists (
      select from signing_refusals lately
      where lately.ledger_ref = refused.ledger_ref and lately.refused_at > now() - interval '1 hour'
        and (lately.org_id, lately.from_wallet_id, lately.reason) = (refused.org_id, refused.from_wallet_id, refused.reason))`);
}
