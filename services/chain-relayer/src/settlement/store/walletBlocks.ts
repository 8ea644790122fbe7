import { type Queryable, sql, type Tx } from "@wonrail/kit/db";

/** A change of the token's blocklist that concerns a wallet of ours. */
export interface WalletBlock {
  orgId: string;
  walletId: string;
  address: string;
  blocked: boolean;
  blockNumber: bigint;
  blockHash: string;
  logIndex: number;
}

/** Returns false if this or a later change is known, because blocks may be indexed again. */
export async function saveWalletBlock(tx: Tx, block: WalletBlock): Promise<boolean> {
  const { walletId, orgId, address, blocked, blockNumber, blockHash, logIndex } = block;
  const saved = await tx.run(sql`
    insert into wallet_blocks (wallet_id, org_id, wallet_address, blocked, block_number, block_hash, log_index)
    values (${walletId}, ${orgId}, ${address}, ${blocked}, ${blockNumber}, ${blockHash}, ${logIndex})
    on conflict (wallet_id) do update set blocked = excluded.blocked, block_number = excluded.block_number,
      block_hash = excluded.block_hash, log_index = excluded.log_index, posted_at = null, refusal = null, post_at = now()
    where (wallet_blocks.block_number, wallet_blocks.log_index) < (excluded.block_number, excluded.log_index)`);
  return saved === 1;
}

/** Longer than a call to the ledger lasts. */
const CALL_TIME = sql`interval '30 seconds'`;

/** Claims due changes. While a claim lasts, no replica posts a newer change of the wallet. */
export async function claimWalletBlocks(db: Queryable, limit: number): Promise<WalletBlock[]> {
  return db.write<WalletBlock>(sql`
    update wallet_blocks b set claimed_until = now() + ${CALL_TIME}
    from (
      select wallet_id from wallet_blocks where post_at <= now() and claimed_until <= now()
      order by post_at limit ${limit} for update skip locked
    ) due
    where b.wallet_id = due.wallet_id
    returning b.wallet_id as "walletId", b.org_id as "orgId", b.wallet_address as address, b.blocked,
      b.block_number as "blockNumber", b.block_hash as "blockHash", b.log_index as "logIndex"`);
}

/** Notes the ledger's answer and ends the claim. A newer change is due at once. */
export async function notePosted(db: Queryable, block: WalletBlock, refusal: string | null): Promise<void> {
  const isNewest = sql`(block_number, log_index) = (${block.blockNumber}, ${block.logIndex})`;
  const again = refusal === null ? sql`interval '1 hour'` : sql`interval '10 seconds'`;
  await db.run(sql`
    update wallet_blocks set claimed_until = now(),
      post_at = case when ${isNewest} then now() + ${again} else now() end,
      posted_at = case when ${isNewest} and ${refusal}::text is null then coalesce(posted_at, now()) else posted_at end,
      refusal = case when ${isNewest} then ${refusal} end
    where wallet_id = ${block.walletId}`);
}

/** Which of these wallets are blocked in final blocks. */
export async function findBlockedWallets(db: Queryable, walletIds: string[]): Promise<Set<string>> {
  const rows = await db.query<{ wallet_id: string }>(
    sql`select wallet_id from wallet_blocks where blocked and wallet_id = any(${walletIds}::text[])`,
  );
  return new Set(rows.map((row) => row.wallet_id));
}

export interface BlockedWallet {
  orgId: string;
  walletId: string;
  walletAddress: string;
  sinceBlock: bigint;
  /** False while the ledger still lets its money move. */
  frozen: boolean;
  refusal: string | null;
  /** Entries and holds that cannot settle before the wallet is unblocked. */
  waiting: bigint;
}

/** Blocked wallets, the latest first. */
export function listBlockedWallets(db: Queryable, limit: number): Promise<BlockedWallet[]> {
  return db.query<BlockedWallet>(sql`
    select org_id as "orgId", wallet_id as "walletId", wallet_address as "walletAddress",
      block_number as "sinceBlock", posted_at is not null as frozen, refusal,
      (select count(*) from operations o where o.org_id = b.org_id and o.state in ('WAITING', 'PLANNED')
        and b.wallet_id = any(o.wallets)) as waiting
    from wallet_blocks b where blocked order by block_number desc, log_index desc limit ${limit}`);
}

/** How many wallets are blocked, and how many changes the ledger has not taken. */
export async function countWalletBlocks(db: Queryable): Promise<{ blocked: number; unposted: number }> {
  const row = await db.one<{ blocked: bigint; unposted: bigint }>(sql`
    select count(*) filter (where blocked) as blocked, count(*) filter (where posted_at is null) as unposted
    from wallet_blocks`);
  return { blocked: Number(row.blocked), unposted: Number(row.unposted) };
}
