import { BoundedMap } from "@wonrail/kit/boundedMap";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type WalletFacts, type WalletServiceService, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { type Facts } from "./flow";
import { createPolicyOf, type PolicyDeps } from "./policyOf";

export interface FactsDeps extends PolicyDeps {
  wallet: Pick<
    PromiseClient<WalletServiceService>,
    "findWalletsByAddress" | "getWalletFacts" | "ensureWallet"
  >;
  contracts: Facts["contracts"];
  network: string;
}

const MAX_CACHED = 100_000;

/** Facts that never change are kept once they are known; policies for a moment. */
export function createFacts({ db, log, auth, wallet, contracts, network, monotonicMs }: FactsDeps): Facts {
  const walletsByAddress = new BoundedMap<string, string>(MAX_CACHED);
  const withIncentiveWallet = new BoundedMap<string, true>(MAX_CACHED);

  return {
    contracts,
    network,

    policyOf: createPolicyOf({ db, log, auth, monotonicMs }),

    async walletAt(orgId, address) {
      const key = `${orgId}|${address}`;
      const known = walletsByAddress.get(key);
      if (known !== undefined) return known;
      const { wallets } = await wallet.findWalletsByAddress({ orgId, addresses: [address] }, { retry: true });
      const walletId = wallets[0]?.walletId;
      // That an address is nobody's is not kept: a wallet may be made there at any time.
      if (walletId !== undefined) walletsByAddress.set(key, walletId);
      return walletId ?? null;
    },

    async ensureIncentiveWallet(orgId, payerWalletId, receiverWalletId) {
      const key = `${orgId}|${payerWalletId}`;
      if (withIncentiveWallet.get(key)) return;
      const walletIds = [payerWalletId, receiverWalletId];
      const { wallets, deactivatedWalletIds } = await wallet.getWalletFacts(
        { orgId, walletIds },
        { retry: true },
      );
      const [payer, receiver] = walletIds.map((id) =>
        wallets.find(({ walletId }) => walletId === id && !deactivatedWalletIds.includes(id)),
      );
      // What is forbidden is the ledger's to refuse; nobody gets a wallet for it.
      if (!payer || !receiver || !isPayable(payer, receiver)) return;
      const { userId } = payer;
      await wallet.ensureWallet({ orgId, userId, walletType: WalletType.INCENTIVE }, { retry: true });
      withIncentiveWallet.set(key, true);
    },

    forgetIncentiveWallet(orgId, payerWalletId) {
      withIncentiveWallet.delete(`${orgId}|${payerWalletId}`);
    },
  };
}

/** As the ledger judges it. */
function isPayable(payer: WalletFacts, receiver: WalletFacts): boolean {
  return receiver.walletType === WalletType.NORMAL && receiver.userId !== payer.userId;
}
