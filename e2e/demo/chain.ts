import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Interface } from "ethers";
import { type Json } from "../support/api";
import { reconciled } from "../support/reconciled";
import { type Cast, OUTSIDE } from "./money";
import { krw, screen } from "./screen";
import { showBalances, until, type Demo } from "./demo";

const UNITS_PER_KRW = 1_000_000n;
const token = new Interface([
  "function transfer(address to, uint256 value)",
  "function balanceOf(address) view returns (uint256)",
]);

/** An outside address sends tokens to a wallet. The product learns of it from final blocks only. */
export async function depositChapter(demo: Demo, { shop }: Cast): Promise<void> {
  screen.chapter("A deposit from outside");
  const { tokenAddress } = demo.stack.chain;
  const before = (await demo.api.get(`/api/wallets/${shop.walletId}`)).balance as number;
  // The local chain accepts transactions of any address without its key.
  await rpc(demo, "anvil_impersonateAccount", [OUTSIDE]);
  await rpc(demo, "anvil_setBalance", [OUTSIDE, "0xde0b6b3a7640000"]);
  const data = token.encodeFunctionData("transfer", [shop.walletAddress, 250n * UNITS_PER_KRW]);
  const hash = await rpc<string>(demo, "eth_sendTransaction", [{ from: OUTSIDE, to: tokenAddress, data }]);
  screen.line(`${OUTSIDE} sends ${krw(250)} to the shop: ${hash}`);
  await until(
    () => demo.api.get(`/api/wallets/${shop.walletId}`),
    ({ balance }) => balance === before + 250,
  );
  screen.done("credited once it was final");
  await showBalances(demo, { shop });
}

/** Kills the settling process in between; the next one finishes its work. */
export async function restartChapter(demo: Demo, { alice, shop }: Cast): Promise<void> {
  screen.chapter("The relayer is restarted in the middle");
  const transfer = { fromWalletId: alice.walletId, toWalletAddress: shop.walletAddress, amount: 10 };
  const sent: string[] = [];
  for (let number = 0; number < 5; number += 1)
    sent.push((await demo.api.post("/api/wallets/transfer", transfer)).transferId);
  const command = join("deploy", "local", "bin", "stack.mjs");
  await promisify(execFile)(process.execPath, [command, "restart", "chain-relayer"]);
  sent.push((await demo.api.post("/api/wallets/transfer", transfer)).transferId);
  const settled = new Set<string>();
  for (const transferId of sent) {
    const { settlement } = await until(
      () => demo.api.get(`/api/wallets/transfer/${transferId}`),
      (found) => found.settlement.status === "CONFIRMED",
    );
    settled.add(settlement.txHash);
  }
  screen.done(
    `${sent.length} transfers from before and after it are CONFIRMED, in ${settled.size} transactions`,
  );
}

/**
 * Compares both books, the API's and the chain's, and prints the reconciler's result for all
 * wallets.
 */
export async function booksChapter(demo: Demo, cast: Cast): Promise<void> {
  screen.chapter("Ledger and chain");
  const wallets: Json[] = [cast.alice, cast.aliceIncentive, cast.shop];
  for (const { walletId, walletAddress } of wallets) {
    const { inLedger, onChain } = await until(
      async () => ({
        inLedger: BigInt((await demo.api.get(`/api/wallets/${walletId}`)).balance) * UNITS_PER_KRW,
        onChain: await balanceOnChain(demo, walletAddress),
      }),
      (books) => books.inLedger === books.onChain,
    );
    screen.line(`${walletId}: ledger ${krw(won(inLedger))}, chain ${krw(won(onChain))}`);
  }
  const { wallets: compared, drifts } = await reconciled(demo.stack);
  if (drifts > 0) throw new Error(`the reconciler has found ${drifts} differences: npx wonrail drift list`);
  screen.done(`ledger = chain: ${compared} wallets compared, drift ${krw(0)}`);
}

async function balanceOnChain(demo: Demo, address: string): Promise<bigint> {
  const data = token.encodeFunctionData("balanceOf", [address]);
  const call = { to: demo.stack.chain.tokenAddress, data };
  return BigInt(await rpc<string>(demo, "eth_call", [call, "finalized"]));
}

function won(units: bigint): number {
  return Number(units / UNITS_PER_KRW);
}

async function rpc<T>({ stack }: Demo, method: string, params: unknown[]): Promise<T> {
  const response = await fetch(stack.chain.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result?: T; error?: { message: string } };
  if (error) throw new Error(`${method}: ${error.message}`);
  return result as T;
}
