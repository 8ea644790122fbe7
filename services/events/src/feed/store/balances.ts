import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type Balance } from "../domain/wallets";

export interface WalletBalance extends Balance {
  orgId: string;
  walletId: string;
}

/** `balances` holds one balance per wallet. */
export function saveBalances(tx: Tx, balances: WalletBalance[]): void {
  if (balances.length === 0) return;
  tx.push(
    named(
      "balances_save",
      sql`
        insert into balances (org_id, wallet_id, balance_won, available_won)
        select * from unnest(
          ${balances.map(({ orgId }) => orgId)}::text[],
          ${balances.map(({ walletId }) => walletId)}::text[],
          ${balances.map(({ balanceWon }) => balanceWon)}::bigint[],
          ${balances.map(({ availableWon }) => availableWon)}::bigint[])
        on conflict (org_id, wallet_id) do update set
          balance_won = excluded.balance_won, available_won = excluded.available_won`,
    ),
  );
}

/** The balances by wallet. A wallet without an entry is left out. */
export async function findBalances(
  db: Queryable,
  wallets: readonly Pick<WalletBalance, "orgId" | "walletId">[],
): Promise<Map<string, Balance>> {
  if (wallets.length === 0) return new Map();
  const rows = await db.query<{ wallet_id: string; balance_won: bigint; available_won: bigint }>(sql`
    select balances.wallet_id, balance_won, available_won
    from unnest(${wallets.map(({ orgId }) => orgId)}::text[], ${wallets.map(({ walletId }) => walletId)}::text[])
      as wanted (org_id, wallet_id)
    join balances on balances.org_id = wanted.org_id and balances.wallet_id = wanted.wallet_id`);
  return new Map(
    rows.map((row) => [row.wallet_id, { balanceWon: row.balance_won, availableWon: row.available_won }]),
  );
}
