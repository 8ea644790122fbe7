import { chunksOf } from "@wonrail/kit/chunksOf";
import { decodeUnits, encodeBalanceOf, encodeTotalSupply, type Provider } from "../../evm";
import { createFindings, type Findings, addComparison } from "./findings";
import { type SupplyBook, type WalletBooks } from "./readBooks";

export interface CompareChainDeps {
  provider: Pick<Provider, "callAt" | "callManyAt">;
  chain: { tokenAddress: string };
}

/** Balances requested before they are judged. */
const AT_ONCE = 1_000;
const IN_FLIGHT = 2;

/** Compares these wallets' token balances at the books' block. */
export async function compareWallets(
  { provider, chain }: CompareChainDeps,
  { cursor, wallets }: WalletBooks,
  openDrifts: ReadonlySet<string>,
): Promise<Findings> {
  const at = { kind: "CHAIN", subject: "", blockNumber: cursor.blockNumber } as const;
  const parts = chunksOf(wallets, AT_ONCE);
  const findings = createFindings(openDrifts);
  // Several workers, so that node and relayer work at the same time.
  const workers = Array.from({ length: IN_FLIGHT }, async () => {
    for (let part = parts.pop(); part; part = parts.pop()) {
      const calls = part.map(({ address }) => encodeBalanceOf(address));
      const balances = await provider.callManyAt(chain.tokenAddress, calls, cursor.blockNumber);
      part.forEach(({ orgId, walletId, units }, index) => {
        const actual = decodeUnits(balances[index]!);
        addComparison(findings, { ...at, orgId, walletId, expected: units, actual });
      });
    }
  });
  await Promise.all(workers);
  return findings;
}

/** All tokens that there are. */
export async function compareSupply(
  { provider, chain }: CompareChainDeps,
  { cursor: { blockNumber }, supplyUnits: expected }: SupplyBook,
  openDrifts: ReadonlySet<string>,
): Promise<Findings> {
  const findings = createFindings(openDrifts);
  const actual = decodeUnits(await provider.callAt(chain.tokenAddress, encodeTotalSupply(), blockNumber));
  addComparison(findings, {
    orgId: "",
    walletId: "",
    kind: "SUPPLY",
    subject: "",
    expected,
    actual,
    blockNumber,
  });
  return findings;
}
