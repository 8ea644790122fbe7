import { type Database } from "@wonrail/kit/db";
import { cutPage, type Page } from "@wonrail/kit/page";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import { type LedgerClient } from "../commands/openAccount";
import { type WalletWithBalance } from "../domain/wallet";
import * as wallets from "../store/wallets";
import { withBalances } from "./getWallet";

/** An organisation's wallets, newest first. */
export async function listWallets(
  { db, ledger }: { db: Database; ledger: LedgerClient },
  { orgId, filter, page }: { orgId: string; filter: wallets.WalletFilter; page: Page },
): Promise<{ items: WalletWithBalance[]; info: PageInfo }> {
  const { rows, total } = await wallets.listWallets(db, orgId, filter, page);
  const { items, info } = cutPage(rows, page, (wallet) => wallet.walletId, total);
  return { items: await withBalances(ledger, items), info };
}
