import { type Tx } from "@wonrail/kit/db";
import { saveWalletAddresses, type WalletAddress } from "../../indexer";
import { readAccount, readOrganisation, readWallet } from "../domain/entryFields";

/** Stores a new wallet's address, so that reconciliation covers wallets without entries. */
export async function ingestWallet(tx: Tx, { walletId, orgId, address }: WalletAddress): Promise<void> {
  const wallet = { walletId: readWallet(walletId), orgId: readOrganisation(orgId) };
  await saveWalletAddresses(tx, [{ ...wallet, address: readAccount(address) }]);
}
