import { type Queryable, sql, type Tx } from "@wonrail/kit/db";

export interface CancelledAuthorization {
  fromWalletId: string;
  nonce: string;
  txHash: string;
  blockNumber: bigint;
  blockHash: string;
}

export async function saveCancelledAuthorizations(
  tx: Tx,
  cancelled: CancelledAuthorization[],
): Promise<void> {
  if (cancelled.length === 0) return;
  await tx.run(sql`
    insert into cancelled_authorizations (from_wallet_id, nonce, tx_hash, block_number, block_hash)
    select * from unnest(${cancelled.map((one) => one.fromWalletId)}::text[], ${cancelled.map((one) => one.nonce)}::text[],
      ${cancelled.map((one) => one.txHash)}::text[], ${cancelled.map((one) => one.blockNumber)}::bigint[],
      ${cancelled.map((one) => one.blockHash)}::text[])
    on conflict do nothing`);
}

export async function isCancelled(db: Queryable, fromWalletId: string, nonce: string): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (select from cancelled_authorizations where from_wallet_id = ${fromWalletId} and nonce = ${nonce}) as found`);
  return found;
}
