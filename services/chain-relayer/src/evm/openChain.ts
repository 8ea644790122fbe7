import { setTimeout as sleep } from "node:timers/promises";
import { TypedDataEncoder } from "ethers";
import { connectChain, type ConnectOptions } from "./connectChain";
import { encodeDomainSeparator } from "./contracts";
import { type Provider } from "./provider";
import { RpcUnanswered } from "./rpc";
import { tokenOf } from "./tokenOf";
import { TOKEN_DOMAIN } from "./transferAuthorization";

export interface ChainOptions extends ConnectOptions {
  tokenAddress: string;
  paymentManagerAddress: string;
  /** Called when an endpoint that was away at the start answers wrongly. */
  fail: (error: unknown) => void;
}

/** The chain, which may be away. */
export interface OpenedChain {
  /** Waits until the chain is checked; null when the signal aborts first. */
  reached(signal: AbortSignal): Promise<Provider | null>;
  close(): void;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Opens and checks the chain: every endpoint must be on it, and the token's signing domain must
 * match ours. A wrong answer stops the start, and later the process. While no endpoint answers, the
 * start continues, and the check repeats in the background.
 */
export async function openChain(options: ChainOptions): Promise<OpenedChain> {
  const { log, fail } = options;
  const provider = connectChain(options);
  const stop = new AbortController();

  async function check(): Promise<boolean> {
    try {
      await provider.checkChain();
      await checkContracts(provider, options);
      return true;
    } catch (error) {
      if (!(error instanceof RpcUnanswered)) throw error;
      log.warn(
        { reason: error.message },
        "waiting for the chain; work that does not need the chain continues",
      );
      return false;
    }
  }

  let isChecked = await check();
  async function persist(): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; !isChecked; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      await sleep(pauseMs, undefined, { signal: stop.signal }).catch(() => undefined);
      if (stop.signal.aborted) return;
      isChecked = await check();
    }
  }
  const checked = persist().catch(fail);

  return {
    async reached(signal) {
      if (!isChecked) await Promise.race([checked, aborted(signal)]);
      return isChecked ? provider : null;
    },
    close: () => stop.abort(),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function checkContracts(
  provider: Provider,
  { chainId, tokenAddress, paymentManagerAddress }: ChainOptions,
): Promise<void> {
  const latest = await provider.latestBlock();
  const onChain = await provider.callAt(tokenAddress, encodeDomainSeparator(), latest.number);
  const ours = TypedDataEncoder.hashDomain({
    ...TOKEN_DOMAIN,
    chainId,
    verifyingContract: tokenAddress,
  });
  if (onChain !== ours)
    throw new Error(`the contract at ${tokenAddress} is not our token: its domain separator is ${onChain}`);
  if ((await tokenOf(provider, paymentManagerAddress, latest.number)) !== tokenAddress.toLowerCase())
    throw new Error(`the contract at ${paymentManagerAddress} is no payment manager of our token`);
}
