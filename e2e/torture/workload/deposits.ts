import { setTimeout as sleep } from "node:timers/promises";
import { tokenAbi } from "@wonrail/chain-relayer/evm/contracts";
import { pick, seeded } from "@wonrail/kit/testing/random";
import { type World } from "../world/openWorld";

const EVERY_MS = 1_000;
const GAS = "0x30d40";
const MUCH_WEI = "0x56bc75e2d63100000";
const UNITS_PER_WON = 1_000_000n;

interface Deposits {
  /** Transactions that the node took. A reorganisation or a paused token may drop some. */
  sent(): number;
  /** Sends deposits one after the other while there is further work. */
  run(hasNext: () => boolean): Promise<void>;
}

/**
 * Outside addresses send tokens, which earlier transfers gave them, back to wallets. Every second
 * deposit has a part below a whole KRW.
 */
export function openDeposits(
  { chain, organisations }: World,
  { seed, outside }: { seed: number; outside: string[] },
): Deposits {
  const { node, contracts } = chain;
  const random = seeded(seed * 1_013);
  const to = contracts.tokenAddress;
  let sent = 0;

  async function balanceOf(address: string): Promise<bigint> {
    const data = tokenAbi.encodeFunctionData("balanceOf", [address]);
    return BigInt(await node.rpc<string>("eth_call", [{ to, data }, "latest"]));
  }

  async function depositOnce(): Promise<void> {
    const from = pick(random, outside);
    const { walletAddress } = pick(random, pick(random, organisations).estate.wallets);
    const won = (await balanceOf(from)) / UNITS_PER_WON / 4n;
    if (won === 0n) return;
    const units = won * UNITS_PER_WON - (random() < 0.5 ? 0n : 1n);
    const data = tokenAbi.encodeFunctionData("transfer", [walletAddress, units]);
    await node.rpc("eth_sendTransaction", [{ from, to, data, gas: GAS }]);
    sent += 1;
  }

  return {
    sent: () => sent,
    async run(hasNext) {
      for (const address of outside) {
        await node.rpc("anvil_impersonateAccount", [address]);
        await node.rpc("anvil_setBalance", [address, MUCH_WEI]);
      }
      // A paused token refuses the call.
      for (; hasNext(); await sleep(EVERY_MS)) await depositOnce().catch(() => undefined);
    },
  };
}
