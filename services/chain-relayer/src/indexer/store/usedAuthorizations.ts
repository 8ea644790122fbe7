import { type Queryable, sql, type Tx } from "@wonrail/kit/db";

export interface UsedAuthorization {
  fromWalletId: string;
  nonce: string;
  txHash: string;
  blockNumber: bigint;
  blockHash: string;
  /** Its movement; null for old rows. */
  moved: { to: string; units: bigint } | null;
}

export async function saveUsedAuthorizations(tx: Tx, used: UsedAuthorization[]): Promise<void> {
  if (used.length === 0) return;
  await tx.run(sql`
    insert into used_authorizations (from_wallet_id, nonce, tx_hash, block_number, block_hash, to_address, units)
    select * from unnest(${used.map((one) => one.fromWalletId)}::text[], ${used.map((one) => one.nonce)}::text[],
      ${used.map((one) => one.txHash)}::text[], ${used.map((one) => one.blockNumber)}::bigint[],
      ${used.map((one) => one.blockHash)}::text[],
      ${used.map(({ moved }) => moved?.to ?? null)}::text[], ${used.map(({ moved }) => moved?.units ?? null)}::numeric[])
    on conflict do nothing`);
}

/** By "wallet|nonce". */
export async function findUsedAuthorizations(
  db: Queryable,
  wanted: { fromWalletId: string; nonce: string }[],
): Promise<Map<string, UsedAuthorization>> {
  const rows = await db.query<{
    from_wallet_id: string;
    nonce: string;
    tx_hash: string;
    block_number: bigint;
    block_hash: string;
    to_address: string | null;
    units: bigint | null;
  }>(sql`
    select used_authorizations.* from used_authorizations
    join unnest(${wanted.map((one) => one.fromWalletId)}::text[], ${wanted.map((one) => one.nonce)}::text[])
      as wanted (from_wallet_id, nonce) using (from_wallet_id, nonce)`);
  return new Map(
    rows.map((row) => [
      `${row.from_wallet_id}|${row.nonce}`,
      {
        fromWalletId: row.from_wallet_id,
        nonce: row.nonce,
        txHash: row.tx_hash,
        blockNumber: row.block_number,
        blockHash: row.block_hash,
        moved: row.to_address === null ? null : { to: row.to_address, units: row.units! },
      },
    ]),
  );
}
