import { BoundedMap } from "@wonrail/kit/boundedMap";
import { childTraceparent, currentContext, runInContext } from "@wonrail/kit/context";
import { type Database } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { type WalletFacts, type WalletServiceService, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { findPolicy, type Policy, savePolicy } from "../store/policies";
import { type Facts } from "./flow";

export interface FactsDeps {
  db: Database;
  auth: Pick<PromiseClient<AuthServiceService>, "getOrganisation">;
  wallet: Pick<
    PromiseClient<WalletServiceService>,
    "findWalletsByAddress" | "getWalletFacts" | "ensureWallet"
  >;
  contracts: Facts["contracts"];
  network: string;
  now: () => number;
}

const MAX_CACHED = 100_000;

/** A change of policy is in force everywhere after this long. */
const POLICY_TTL_MS = 1_000;

/** Facts that never change are kept once they are known; policies for a moment. */
export function createFacts({ db, auth, wallet, contracts, network, now }: FactsDeps): Facts {
  const walletsByAddress = new BoundedMap<string, string>(MAX_CACHED);
  const withIncentiveWallet = new BoundedMap<string, true>(MAX_CACHED);
  const policies = new BoundedMap<string, { policy: Promise<Policy>; untilMs: number }>(MAX_CACHED);

  return {
    contracts,
    network,

    async policyOf(orgId) {
      const known = policies.get(orgId);
      if (known && known.untilMs > now()) return known.policy;
      const policy = inNobodysTime(() => readPolicy(orgId));
      policies.set(orgId, { policy, untilMs: now() + POLICY_TTL_MS });
      // What failed is asked for again by the next one.
      policy.catch(() => policies.set(orgId, { policy, untilMs: 0 }));
      return policy;
    },

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
  };

  async function readPolicy(orgId: string): Promise<Policy> {
    return (await findPolicy(db, orgId)) ?? askForPolicy(orgId);
  }

  /** An organisation whose first event has not arrived yet. */
  async function askForPolicy(orgId: string): Promise<Policy> {
    const { organisation } = await auth.getOrganisation(
      { by: { $case: "orgId", value: orgId } },
      { retry: true },
    );
    const policy = {
      orgId,
      dailyLimitWon: organisation!.dailyTransferLimitWon,
      incentiveRateBps: organisation!.incentiveRateBps,
      version: organisation!.version,
    };
    await savePolicy(db, policy);
    return policy;
  }
}

/** As the ledger judges it. */
function isPayable(payer: WalletFacts, receiver: WalletFacts): boolean {
  return receiver.walletType === WalletType.NORMAL && receiver.userId !== payer.userId;
}

/** Whoever asks first has less time left than others who wait for the same answer. */
function inNobodysTime<T>(work: () => T): T {
  const { deadlineMs: _, ...context } = currentContext() ?? {
    requestId: "",
    traceparent: childTraceparent(),
  };
  return runInContext(context, work);
}
