import { type Database } from "@wonrail/kit/db";
import { invalidRequest } from "@wonrail/kit/errors";
import { type Wallet } from "../domain/wallet";
import { listWalletsByAddress, listWalletsById } from "../store/wallets";

const MAX_AT_ONCE = 1_000;

export async function getWalletFacts(
  { db }: { db: Database },
  { orgId, walletIds }: { orgId: string; walletIds: string[] },
): Promise<Wallet[]> {
  checkCount("wallet_ids", walletIds);
  return listWalletsById(db, orgId, walletIds);
}

export async function findWalletsByAddress(
  { db }: { db: Database },
  { orgId, addresses }: { orgId: string | null; addresses: string[] },
): Promise<Wallet[]> {
  checkCount("addresses", addresses);
  return listWalletsByAddress(db, orgId, addresses);
}

function checkCount(path: string, values: string[]): void {
  if (values.length > MAX_AT_ONCE)
    throw invalidRequest([{ path, message: `has more than ${MAX_AT_ONCE} entries` }]);
}
