import { type Stack } from "@wonrail/local/stackFile";
import { type Json } from "../support/api";
import { chainOf, readChain, UNITS_PER_WON } from "../torture/checker/chain/readChain";

/** Ids of the operations that the payment manager has executed, each as often as it was. */
export async function executionsOf(stack: Stack): Promise<string[]> {
  const { executions } = chainOf(await readChain(stack, []));
  return [...executions].flatMap(([id, times]) => Array.from({ length: times }, () => id)).sort();
}

/** The balance of each wallet on the chain in whole KRW, by the wallet's id. */
export async function balancesOnChain(stack: Stack, wallets: Json[]): Promise<Record<string, number>> {
  const { balances } = chainOf(await readChain(stack, []));
  return Object.fromEntries(
    wallets.map(({ walletId, walletAddress }) => [
      walletId,
      Number((balances.get(walletAddress.toLowerCase()) ?? 0n) / UNITS_PER_WON),
    ]),
  );
}
