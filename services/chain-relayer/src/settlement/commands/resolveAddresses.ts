import { chunksOf } from "@wonrail/kit/chunksOf";
import { type Database } from "@wonrail/kit/db";
import { groupBy } from "@wonrail/kit/groupBy";
import { walletsOf } from "../domain/steps";
import { type Operation } from "../store/operations";
import { findAddresses, saveWalletAddresses, type WalletAddress, type WalletClient } from "../../indexer";
import { callWithBisection } from "./callWithBisection";

const IDS_PER_CALL = 1_000;

export interface ResolvedAddresses {
  /** Address by wallet id. Wallets that custody does not know are missing. */
  addresses: Map<string, string>;
  /** Wallet ids that custody refuses as malformed. */
  malformed: Set<string>;
}

/**
 * Returns the addresses of all wallets of these operations. Asks custody (the wallet service) for
 * addresses that the database does not have, and stores them there.
 */
export async function resolveAddresses(
  { db, wallet }: { db: Database; wallet: WalletClient },
  operations: Operation[],
): Promise<ResolvedAddresses> {
  const wanted = operations.flatMap(({ orgId, steps }) =>
    walletsOf(steps).map((walletId) => ({ orgId, walletId })),
  );
  const addresses = await findAddresses(db, [...new Set(wanted.map(({ walletId }) => walletId))]);
  const malformed = new Set<string>();
  const missing = wanted.filter(({ walletId }) => !addresses.has(walletId));
  for (const [orgId, wallets] of groupBy(missing, (entry) => entry.orgId)) {
    const missingIds = [...new Set(wallets.map(({ walletId }) => walletId))];
    for (const walletIds of chunksOf(missingIds, IDS_PER_CALL)) {
      const answers = await callWithBisection(walletIds, (part) => fetchAddresses(wallet, orgId, part));
      const found = answers.flatMap((answer) => answer?.found ?? []);
      await saveWalletAddresses(db, found);
      for (const { walletId, address } of found) addresses.set(walletId, address);
      walletIds.filter((_, index) => answers[index] === null).forEach((id) => malformed.add(id));
    }
  }
  return { addresses, malformed };
}

/** Returns an answer per id, in order. `found` is empty for an unknown wallet. */
async function fetchAddresses(
  wallet: WalletClient,
  orgId: string,
  walletIds: string[],
): Promise<{ found: WalletAddress[] }[]> {
  const { wallets } = await wallet.getWalletFacts({ orgId, walletIds });
  const addresses = new Map(wallets.map(({ walletId, walletAddress }) => [walletId, walletAddress]));
  return walletIds.map((walletId) => {
    const address = addresses.get(walletId);
    return { found: address === undefined ? [] : [{ walletId, orgId, address }] };
  });
}
