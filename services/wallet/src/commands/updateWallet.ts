import { type Database, tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { appendEvents } from "@wonrail/kit/outbox";
import { checkMetadata, type Metadata } from "../domain/metadata";
import { type Wallet } from "../domain/wallet";
import { walletUpdated } from "../events";
import { findWallet, replaceMetadata } from "../store/wallets";

/** Replaces the metadata as a whole. */
export async function updateWallet(
  { db }: { db: Database },
  { orgId, walletId, metadata }: { orgId: string; walletId: string; metadata: Metadata },
): Promise<Wallet> {
  checkMetadata(metadata);
  return tx(db, async (tx) => {
    const updated = await replaceMetadata(tx, orgId, walletId, metadata);
    if (!updated) {
      const wallet = await findWallet(tx, orgId, walletId);
      throw new DomainError(wallet && wallet.status !== "OPENING" ? "WAL_004" : "WAL_002", { walletId });
    }
    await appendEvents(tx, [walletUpdated(updated)]);
    return updated;
  });
}
