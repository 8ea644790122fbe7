import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type WalletServiceService, WalletType } from "@wonrail/proto/wallet/v1/wallet";

export type WalletFinder = Pick<PromiseClient<WalletServiceService>, "findWalletsByAddress">;

/** Ids of the organisation's NORMAL wallets among these addresses, by address in lower case. */
export async function findNormalWallets(
  wallet: WalletFinder,
  orgId: string,
  addresses: string[],
): Promise<Map<string, string>> {
  const { wallets } = await wallet.findWalletsByAddress({ orgId, addresses });
  return new Map(
    wallets
      .filter(({ walletType }) => walletType === WalletType.NORMAL)
      .map(({ walletAddress, walletId }) => [walletAddress.toLowerCase(), walletId]),
  );
}
