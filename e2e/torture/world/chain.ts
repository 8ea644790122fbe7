import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { tokenAbi } from "@wonrail/chain-relayer/evm/contracts";
import { type Proxy } from "@wonrail/kit/testing";
import { type Parts } from "@wonrail/kit/testing/buildWorld";
import { deployContracts, type DeployedContracts } from "@wonrail/local/deployContracts";
import { type Guard } from "@wonrail/local/process/guard";
import { type Secrets } from "@wonrail/local/secrets";
import { computeAddress } from "ethers";
import { type LyingNode, startLyingNode } from "../../chain/support/lyingNode";
import { type ChainNode, startNode } from "../../chain/support/node";
import { type RpcProxy, startRpcProxy } from "../../support/rpcProxy";
import { type Links, placeOf } from "./links";

const BLOCK_MS = 1_000;
/** Blocks on top that make a block final for the services. */
export const FINALITY = 5;
const ENDPOINTS = 3;
const MUCH_WEI = "0x56bc75e2d63100000";
const DONE_MS = 60_000;

/** The chain with three endpoints. The relayer needs two endpoints that agree. */
export interface Chain {
  node: ChainNode;
  contracts: DeployedContracts;
  /** The relayer's way to each endpoint. */
  endpoints: Proxy[];
  /** Lets one endpoint lead to the node, to a node that lies, or to one with faults. */
  leadTo(endpoint: Proxy, target: "node" | "liar" | "faulty"): void;
  liar: LyingNode;
  faulty: RpcProxy;
  stopBlocks(): Promise<void>;
  startBlocks(): void;
  setPaused(paused: boolean): Promise<void>;
  setBlocked(address: string, blocked: boolean): Promise<void>;
}

export async function startChain(
  parts: Parts,
  links: Links,
  { dir, guard, secrets, seed }: { dir: string; guard: Guard; secrets: Secrets; seed: number },
): Promise<Chain> {
  const node = await startNode({ dir, guard });
  parts.onClose(() => node.pause());
  node.run(100);
  const contracts = await deployContracts({ rpcUrl: node.url }, secrets);
  await node.pause();
  node.run(BLOCK_MS);
  const liar = await parts.use(startLyingNode(node.url));
  const faulty = await parts.use(startRpcProxy(node.url, seed));
  const targets = { node: node.url, liar: liar.url, faulty: faulty.url };
  const endpoints: Proxy[] = [];
  for (let number = 1; number <= ENDPOINTS; number += 1)
    endpoints.push(await links.add("relayer-chain", `relayer to endpoint ${number}`, hostOf(node.url)));
  return {
    node,
    contracts,
    endpoints,
    liar,
    faulty,
    stopBlocks: () => node.pause(),
    startBlocks: () => node.run(BLOCK_MS),
    leadTo(endpoint, target) {
      endpoint.setTarget(hostOf(targets[target]));
      // Open connections would keep their old target.
      endpoint.setMode({ kind: "reset" });
      endpoint.setMode({ kind: "pass" });
    },
    ...(await openToken(node, contracts.tokenAddress, secrets.adminKeyFile)),
  };
}

function hostOf(url: string) {
  return placeOf(new URL(url).host);
}

/** Sends transactions of the token's admin until the state is as wanted. A reorganisation may drop them. */
async function openToken(
  node: ChainNode,
  to: string,
  adminKeyFile: string,
): Promise<Pick<Chain, "setPaused" | "setBlocked">> {
  const from = computeAddress(readFileSync(adminKeyFile, "utf8").trim());
  await node.rpc("anvil_impersonateAccount", [from]);
  await node.rpc("anvil_setBalance", [from, MUCH_WEI]);
  const isTrue = async (data: string): Promise<boolean> =>
    BigInt(await node.rpc<string>("eth_call", [{ to, data }, "latest"])) === 1n;

  async function change(data: string, isDone: () => Promise<boolean>): Promise<void> {
    for (const endMs = Date.now() + DONE_MS; !(await isDone()); await sleep(2 * BLOCK_MS)) {
      if (Date.now() > endMs) throw new Error("the token's admin could not change the token");
      await node.rpc("eth_sendTransaction", [{ from, to, data, gas: "0x30d40" }]).catch(() => undefined);
    }
  }

  return {
    setPaused(paused) {
      const isPaused = () => isTrue(tokenAbi.encodeFunctionData("paused"));
      const call = tokenAbi.encodeFunctionData(paused ? "pause" : "unpause");
      return change(call, async () => (await isPaused()) === paused);
    },
    setBlocked(address, blocked) {
      const isBlocked = () => isTrue(tokenAbi.encodeFunctionData("isBlocked", [address]));
      const call = tokenAbi.encodeFunctionData("setBlocked", [address, blocked]);
      return change(call, async () => (await isBlocked()) === blocked);
    },
  };
}
