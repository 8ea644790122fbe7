import { type Database } from "@wonrail/kit/db";
import { type Wallet } from "../domain/wallet";
import { listWalletsByAddress, listWalletsById } from "../store/wallets";

export async function getWalletFacts(
  { db }: { db: Database },
  { orgId, walletIds }: { orgId: string; walletIds: string[] },
): Promise<Wallet[]> {
  return listWalletsById(db, orgId, walletIds);
}

export async function findWalletsByAddress(
  { db }: { db: Database },
  { orgId, addresses }: { orgId: string | null; addresses: string[] },
): Promise<Wallet[]> {
  return listWalletsByAddress(db, orgId, addresses);
}
