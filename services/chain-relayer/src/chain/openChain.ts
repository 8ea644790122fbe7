import { setTimeout as sleep } from "node:timers/promises";
import { TypedDataEncoder } from "ethers";
import { type Log } from "@wonrail/kit/log";
import { Counter, DURATION_BUCKETS_SECONDS, Histogram, type Registry } from "@wonrail/kit/metrics";
import { encodeDomainSeparator } from "./contracts";
import { createProvider, type Finality, type Provider } from "./provider";
import { openRpc, RpcUnclear } from "./rpc";

export interface ChainOptions {
  urls: string[];
  timeoutMs: number;
  chainId: bigint;
  tokenAddress: string;
  finality: Finality;
  log: Log;
  registry: Registry;
}

const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
const START_TRIES = 30;

/** The chain, checked: every endpoint is on it, and the token's signatures are bound to what we sign for. */
export async function openChain(options: ChainOptions): Promise<Provider> {
  const { urls, timeoutMs, chainId, finality, log, registry } = options;
  const duration = new Histogram({
    name: "rpc_request_duration_seconds",
    help: "How long an endpoint of the chain took to answer",
    labelNames: ["method"],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  const disagreements = new Counter({
    name: "rpc_disagreement_total",
    help: "Answers about the chain on which endpoints did not agree",
    labelNames: ["provider"],
    registers: [registry],
  });
  const rpcs = urls.map((url) => openRpc({ url, timeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES, duration }));
  const provider = createProvider({ rpcs, chainId, finality, log, disagreements });
  await untilReached(log, async () => {
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
