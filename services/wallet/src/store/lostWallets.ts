import { sql, type Tx } from "@wonrail/kit/db";
import { type Metadata } from "../domain/metadata";
import { type Wallet } from "../domain/wallet";

/** A wallet as its event kept it. */
export type LostWallet = Omit<
  Wallet,
  "walletId" | "walletType" | "status" | "closingRequestId" | "timesReopened" | "updatedAt"
> & { walletId: string; walletType: string };

/** Returns 0 when the database has a wallet of this id, user or key index. */
export function insertLostWallet(tx: Tx, wallet: LostWallet): Promise<number> {
  return tx.run(sql`
    insert into wallets (org_id, wallet_id, user_id, wallet_type, address, key_index, status, metadata, version,
      created_at, updated_at)
    values (${wallet.orgId}, ${wallet.walletId}, ${wallet.userId}, ${wallet.walletType}, ${wallet.address},
      ${wallet.keyIndex}, 'ACTIVE', ${sql.json(wallet.metadata)}, ${wallet.version}, ${wallet.createdAt}, ${wallet.createdAt})
    on conflict do nothing`);
}

/** Returns 0 when the row has this version or a later one. */
export function moveLostWallet(
  tx: Tx,
  { orgId, walletId, version }: { orgId: string; walletId: string; version: bigint },
  { metadata, status }: { metadata: Metadata | undefined; status: string | undefined },
): Promise<number> {
  return tx.run(sql`
    update wallets set version = ${version}, updated_at = now(),
      metadata = coalesce(${metadata === undefined ? null : sql.json(metadata)}, metadata),
      status = coalesce(${status ?? null}, status),
      times_reopened = times_reopened + case when ${status ?? ""} = 'ACTIVE' then 1 else 0 end
    where org_id = ${orgId} and wallet_id = ${walletId} and version < ${version}`);
}
