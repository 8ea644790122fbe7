import { sql, type Tx } from "@wonrail/kit/db";

/** A change of the token's blocklist that concerns a wallet of ours. */
export interface WalletBlock {
  orgId: string;
  walletId: string;
  address: string;
  blocked: boolean;
  blockNumber: bigint;
  logIndex: number;
}

/** Returns false if this or a later change is known, because blocks may be indexed again. */
export async function saveWalletBlock(tx: Tx, block: WalletBlock): Promise<boolean> {
  const saved = await tx.run(sql`
    insert into wallet_blocks (wallet_id, org_id, wallet_address, blocked, block_number, log_index)
    values (${block.walletId}, ${block.orgId}, ${block.address}, ${block.blocked}, ${block.blockNumber}, ${block.logIndex})
    on conflict (wallet_id) do update set blocked = excluded.blocked, block_number = excluded.block_number,
      log_index = excluded.log_index
    where (wallet_blocks.block_number, wallet_blocks.log_index) < (excluded.block_number, excluded.log_index)`);
  return saved === 1;
}
