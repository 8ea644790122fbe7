import { encodeBalanceOf, encodeTotalSupply } from "../chain/contracts";
import { type Provider } from "../chain/provider";
import { type WalletBook } from "../store/settledBalances";
import { createFindings, type Findings, judge } from "./findings";
import { type Books } from "./readBooks";

export interface CompareChainDeps {
  provider: Pick<Provider, "callAt" | "callManyAt">;
  chain: { tokenAddress: string };
}

/** Balances in one request to the node. */
const AT_ONCE = 1_000;
const IN_FLIGHT = 2;

/** Every wallet's tokens and the supply, as the contract says on the books' block. */
export async function compareChain(
  { provider, chain }: CompareChainDeps,
  { cursor, wallets, supplyUnits }: Books,
  doubted: ReadonlySet<string>,
): Promise<Findings> {
  const at = { subject: "", blockNumber: cursor.blockNumber };
  const parts: WalletBook[][] = [];
  for (let start = 0; start < wallets.length; start += AT_ONCE)
    parts.push(wallets.slice(start, start + AT_ONCE));
  const findings = createFindings(doubted);
  // The node works on one request while the next is made.
  const workers = Array.from({ length: IN_FLIGHT }, async () => {
    for (let part = parts.pop(); part; part = parts.pop()) {
      const calls = part.map(({ address }) => encodeBalanceOf(address));
      const balances = await provider.callManyAt(chain.tokenAddress, calls, cursor.blockNumber);
      part.forEach(({ orgId, walletId, units }, index) => {
        const actual = BigInt(balances[index]!);
        judge(findings, { ...at, orgId, walletId, kind: "CHAIN", expected: units, actual });
      });
    }
  });
  await Promise.all(workers);
  const supply = BigInt(await provider.callAt(chain.tokenAddress, encodeTotalSupply(), cursor.blockNumber));
  judge(findings, {
    ...{ ...at, orgId: "", walletId: "", kind: "SUPPLY" },
    ...{ expected: supplyUnits, actual: supply },
  });
  return findings;
}
