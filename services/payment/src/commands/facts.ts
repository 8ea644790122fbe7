import { LRUCache } from "lru-cache";
import { chunksOf } from "@wonrail/kit/chunksOf";
import { checksummed } from "@wonrail/kit/contract/address";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type WalletFacts, type WalletServiceService, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { type Policy } from "../store/policies";
import { createPolicyOf, type PolicyDeps } from "./policyOf";

/** Commands look up these facts before they ask the ledger. */
export interface Facts {
  policyOf(orgId: string): Promise<Policy>;
  /** The id of the organisation's wallet at this address; null when there is none. */
  walletAt(orgId: string, address: string): Promise<string | null>;
  /** The ids of the organisation's wallets at these addresses, by address with its checksum. */
  walletsAt(orgId: string, addresses: string[]): Promise<ReadonlyMap<string, string>>;
  /** Refuses a wallet that the organisation does not have. */
  requireWallet(orgId: string, walletId: string): Promise<void>;
  /** Creates the payer's INCENTIVE wallet, unless the ledger would refuse the payment anyway. */
  ensureIncentiveWallet(orgId: string, payerWalletId: string, receiverWalletId: string): Promise<void>;
  /** Drops the cached fact that the payer has an INCENTIVE wallet. */
  forgetIncentiveWallet(orgId: string, payerWalletId: string): void;
}

export interface FactsDeps extends PolicyDeps {
  wallet: Pick<
    PromiseClient<WalletServiceService>,
    "findWalletsByAddress" | "getWalletFacts" | "ensureWallet"
  >;
}

const MAX_CACHED = 100_000;
/** Addresses of one question to the wallet service. */
const MAX_ADDRESSES = 1_000;

/** Caches facts that never change for good, and policies for a second. */
export function createFacts({ wallet, ...policyDeps }: FactsDeps): Facts {
  const walletsByAddress = new LRUCache<string, string>({ max: MAX_CACHED });
  const withIncentiveWallet = new LRUCache<string, true>({ max: MAX_CACHED });

  return {
    policyOf: createPolicyOf(policyDeps),

    async walletAt(orgId, address) {
      const key = `${orgId}|${address}`;
      const known = walletsByAddress.get(key);
      if (known !== undefined) return known;
      const { wallets } = await wallet.findWalletsByAddress({ orgId, addresses: [address] }, { retry: true });
      const walletId = wallets[0]?.walletId;
      // An address without a wallet is not cached, because the wallet may be created at any time.
      if (walletId !== undefined) walletsByAddress.set(key, walletId);
      return walletId ?? null;
    },

    async walletsAt(orgId, addresses) {
      const found = new Map<string, string>();
      for (const part of chunksOf(addresses, MAX_ADDRESSES)) {
        const { wallets } = await wallet.findWalletsByAddress({ orgId, addresses: part }, { retry: true });
        for (const { walletId, walletAddress } of wallets) found.set(checksummed(walletAddress), walletId);
      }
      return found;
    },

    async requireWallet(orgId, walletId) {
      const { wallets } = await wallet.getWalletFacts({ orgId, walletIds: [walletId] }, { retry: true });
      if (wallets.length === 0) throw new DomainError("WAL_002", { walletId });
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

/** The ledger's own rule (PAY_005). */
function isPayable(payer: WalletFacts, receiver: WalletFacts): boolean {
  return receiver.walletType === WalletType.NORMAL && receiver.userId !== payer.userId;
}
