import { setTimeout as sleep } from "node:timers/promises";
import { TypedDataEncoder } from "ethers";
import { type Log } from "@wonrail/kit/log";
import { connectChain, type ConnectOptions } from "./connectChain";
import { encodeDomainSeparator } from "./contracts";
import { type Provider } from "./provider";
import { RpcUnclear } from "./rpc";

export interface ChainOptions extends ConnectOptions {
  tokenAddress: string;
}

const START_TRIES = 30;

/** The chain, checked: every endpoint is on it, and the token's signatures are bound to what we sign for. */
export async function openChain(options: ChainOptions): Promise<Provider> {
  const provider = connectChain(options);
  await untilReached(options.log, async () => {
    await provider.checkChain();
    await checkDomain(provider, options);
  });
  return provider;
}

async function checkDomain(provider: Provider, { chainId, tokenAddress }: ChainOptions): Promise<void> {
  const latest = await provider.latestBlock();
  const onChain = await provider.callAt(tokenAddress, encodeDomainSeparator(), latest.number);
  const ours = TypedDataEncoder.hashDomain({
    name: "Wonrail Won",
    version: "1",
    chainId,
    verifyingContract: tokenAddress,
  });
  if (onChain !== ours)
    throw new Error(`the contract at ${tokenAddress} is not our token: its domain separator is ${onChain}`);
}

/** An endpoint that does not answer yet is waited for; one that answers wrongly stops the start. */
async function untilReached(log: Log, check: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof RpcUnclear) || tries >= START_TRIES) throw error;
      log.warn({ reason: error.message }, "waiting for the chain");
      await sleep(1_000);
    }
  }
}
