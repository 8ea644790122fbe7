import { sql, type Tx } from "@wonrail/kit/db";
import { type WalletLine } from "../domain/readEntry";

/** Notes the newest line of each wallet that was pulled, for the comparison with the ledger. */
export async function saveWalletSequences(tx: Tx, orgId: string, lines: WalletLine[]): Promise<void> {
  if (lines.length === 0) return;
  await tx.run(sql`
    insert into wallet_sequences (org_id, wallet_id, last_sequence)
    select ${orgId}, * from unnest(
      ${lines.map(({ walletId }) => walletId)}::text[], ${lines.map(({ sequence }) => sequence)}::bigint[])
    order by 2
    on conflict (org_id, wallet_id) do update
      set last_sequence = greatest(wallet_sequences.last_sequence, excluded.last_sequence)`);
}
