import { chunksOf } from "@wonrail/kit/chunksOf";
import { type Database } from "@wonrail/kit/db";
import { groupBy } from "@wonrail/kit/groupBy";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import { walletsOf } from "../domain/settlement";
import { type Operation } from "../store/operations";
import { findAddresses, saveWalletAddresses } from "../store/walletAddresses";

export type WalletClient = PromiseClient<WalletServiceService>;

const AT_ONCE = 1_000;

/** The addresses of all wallets of these operations; those that are not known yet are asked for and kept. */
export async function learnAddresses(
  { db, wallet }: { db: Database; wallet: WalletClient },
  operations: Operation[],
): Promise<Map<string, string>> {
  const wanted = operations.flatMap(({ orgId, steps }) =>
    walletsOf(steps).map((walletId) => ({ orgId, walletId })),
  );
  const addresses = await findAddresses(db, [...new Set(wanted.map(({ walletId }) => walletId))]);
  const unknown = wanted.filter(({ walletId }) => !addresses.has(walletId));
  for (const [orgId, of] of groupBy(unknown, (one) => one.orgId)) {
    const asked = [...new Set(of.map(({ walletId }) => walletId))];
    for (const walletIds of chunksOf(asked, AT_ONCE)) {
      const { wallets } = await wallet.getWalletFacts({ orgId, walletIds });
      const found = wallets.map(({ walletId, walletAddress }) => ({
        walletId,
        orgId,
        address: walletAddress,
      }));
      await saveWalletAddresses(db, found);
      for (const { walletId, address } of found) addresses.set(walletId, address);
    }
  }
  return addresses;
}
