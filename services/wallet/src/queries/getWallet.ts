import { type Database } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { EMPTY_BALANCE, type Wallet, type WalletWithBalance } from "../domain/wallet";
import { type LedgerClient } from "../commands/openAccount";
import { findWallet } from "../store/wallets";

export async function getWallet(
  { db, ledger }: { db: Database; ledger: LedgerClient },
  { orgId, walletId }: { orgId: string; walletId: string },
): Promise<WalletWithBalance> {
  const wallet = await findWallet(db, orgId, walletId);
  if (!wallet || wallet.status === "OPENING") throw new DomainError("WAL_002", { walletId });
  const [withBalance] = await withBalances(ledger, [wallet]);
  return withBalance!;
}

/** Reads the ledger's balances of these wallets in one call. */
export async function withBalances(ledger: LedgerClient, wallets: Wallet[]): Promise<WalletWithBalance[]> {
  const [first] = wallets;
  if (!first) return [];
  const accountIds = wallets.map((wallet) => wallet.walletId);
  const { accounts } = await ledger.getBalances({ orgId: first.orgId, accountIds }, { retry: true });
  const balances = new Map(accounts.map((account) => [account.accountId, account]));
  return wallets.map((wallet) => ({ wallet, balance: balances.get(wallet.walletId) ?? EMPTY_BALANCE }));
}
