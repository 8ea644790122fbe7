import { setTimeout as sleep } from "node:timers/promises";
import { findMissingOnBus } from "./readTopic";
import { checkAnswer, ContractViolation } from "./contract";
import type { TestStack } from "./startStack";

export interface WalletTraffic {
  /** Waits for this many additional wallets. */
  untilMore(wallets: number): Promise<void>;
  stop(): Promise<void>;
  /** Number of created wallets, and ids without an event on the bus. */
  audit(): Promise<{ made: number; missing: string[] }>;
}

const PAUSE_MS = 150;
const PATIENCE_MS = 60_000;

/** Creates wallets one after the other. Each answered wallet must become an event on the bus. */
export function startWalletTraffic(stack: TestStack): WalletTraffic {
  const { gatewayUrl, organisations } = stack.stack();
  const { apiKey } = organisations[0]!;
  const run = Date.now().toString(36);
  const made = new Set<string>();
  let attempts = 0;
  let stopped = false;
  let lastRefusal = "none";
  let violation: Error | undefined;

  async function makeWallet(): Promise<void> {
    attempts += 1;
    const response = await fetch(`${gatewayUrl}/api/wallets`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": apiKey },
      body: JSON.stringify({ userId: `${run}-${attempts}`, walletType: "NORMAL" }),
      signal: AbortSignal.timeout(15_000),
    });
    const answer = (await response.json()) as { data?: { walletId: string }; error?: { code: string } };
    checkAnswer("POST", "/api/wallets", response.status, answer);
    const { data, error } = answer;
    if (!data) throw new Error(`${response.status} ${error?.code}`);
    made.add(data.walletId);
  }

  const running = (async () => {
    while (!stopped) {
      // A killed process refuses or hangs up. Only successful answers count.
      await makeWallet().catch((error: Error) => {
        if (error instanceof ContractViolation) violation = error;
        lastRefusal = error.message;
      });
      await sleep(PAUSE_MS);
    }
  })();

  return {
    async untilMore(wallets) {
      const goal = made.size + wallets;
      for (let waitedMs = 0; made.size < goal; waitedMs += 50) {
        if (waitedMs > PATIENCE_MS) throw new Error(`No more wallets; the last refusal: ${lastRefusal}`);
        await sleep(50);
      }
    },
    async stop() {
      stopped = true;
      await running;
      if (violation) throw violation;
    },
    async audit() {
      const wanted = { service: "wallet", type: "wallet_created", ids: made } as const;
      return { made: made.size, missing: await findMissingOnBus(stack, wanted) };
    },
  };
}
