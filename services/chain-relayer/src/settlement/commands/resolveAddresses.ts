import { chunksOf } from "@wonrail/kit/chunksOf";
import { type Database } from "@wonrail/kit/db";
import { groupBy } from "@wonrail/kit/groupBy";
import { walletsOf } from "../domain/steps";
import { type Operation } from "../store/operations";
import { findAddresses, saveWalletAddresses, type WalletAddress, type WalletClient } from "../../indexer";
import { callWithBisection } from "./callWithBisection";

const AT_ONCE = 1_000;

/** Known facts of the wallets that operations name. */
export interface Known {
  addresses: Map<string, string>;
  /** Ids that are malformed, so custody cannot be asked. */
  malformed: Set<string>;
}

/** Returns the addresses of all wallets of these operations, and caches unknown ones. */
export async function resolveAddresses(
  { db, wallet }: { db: Database; wallet: WalletClient },
  operations: Operation[],
): Promise<Known> {
  const wanted = operations.flatMap(({ orgId, steps }) =>
    walletsOf(steps).map((walletId) => ({ orgId, walletId })),
  );
  const addresses = await findAddresses(db, [...new Set(wanted.map(({ walletId }) => walletId))]);
  const malformed = new Set<string>();
  const unknown = wanted.filter(({ walletId }) => !addresses.has(walletId));
  for (const [orgId, of] of groupBy(unknown, (one) => one.orgId)) {
    const asked = [...new Set(of.map(({ walletId }) => walletId))];
    for (const walletIds of chunksOf(asked, AT_ONCE)) {
      const answers = await callWithBisection(walletIds, (part) => askFor(wallet, orgId, part));
      const found = answers.flatMap((answer) => answer?.found ?? []);
      await saveWalletAddresses(db, found);
      for (const { walletId, address } of found) addresses.set(walletId, address);
      answers.forEach((answer, index) => void (answer === null && malformed.add(walletIds[index]!)));
    }
  }
  return { addresses, malformed };
}

/** Custody's facts of each wallet; empty for an unknown one. */
async function askFor(
  wallet: WalletClient,
  orgId: string,
  walletIds: string[],
): Promise<{ found: WalletAddress[] }[]> {
  const { wallets } = await wallet.getWalletFacts({ orgId, walletIds });
  const known = new Map(wallets.map(({ walletId, walletAddress }) => [walletId, walletAddress]));
  return walletIds.map((walletId) => {
    const address = known.get(walletId);
    return { found: address === undefined ? [] : [{ walletId, orgId, address }] };
  });
}
