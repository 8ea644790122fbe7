import { setTimeout as sleep } from "node:timers/promises";
import { openBus, type Bus } from "@wonrail/kit/bus";
import { createLog } from "@wonrail/kit/log";
import type { TestStack } from "./startStack";

export interface WalletTraffic {
  /** Waits for so many more wallets than there are now. */
  untilMore(wallets: number): Promise<void>;
  stop(): Promise<void>;
  /** How many wallets were made, and those of them of which the bus never told. */
  audit(): Promise<{ made: number; missing: string[] }>;
}

const PAUSE_MS = 50;
const PATIENCE_MS = 30_000;

/** Makes wallets, one after the other. Whatever was answered with a wallet must be an event on the bus. */
export function startWalletTraffic(stack: TestStack): WalletTraffic {
  const { gatewayUrl, organisations } = stack.stack();
  const { apiKey } = organisations[0]!;
  const run = Date.now().toString(36);
  const made = new Set<string>();
  let attempts = 0;
  let stopped = false;
  let lastRefusal = "none";

  async function makeWallet(): Promise<void> {
    attempts += 1;
    const response = await fetch(`${gatewayUrl}/api/wallets`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": apiKey },
      body: JSON.stringify({ userId: `${run}-${attempts}`, walletType: "NORMAL" }),
      signal: AbortSignal.timeout(15_000),
    });
    const { data, error } = (await response.json()) as {
      data?: { walletId: string };
      error?: { code: string };
    };
    if (!data) throw new Error(`${response.status} ${error?.code}`);
    made.add(data.walletId);
  }

  const running = (async () => {
    while (!stopped) {
      // Whoever is killed just now refuses or hangs up. What matters is what was answered.
      await makeWallet().catch((error: Error) => (lastRefusal = error.message));
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
    },
    async audit() {
      const told = await walletsOnTheBus(stack, made);
      return { made: made.size, missing: [...made].filter((walletId) => !told.has(walletId)) };
    },
  };
}

/** Reads the topic from its beginning until every wallet was told of, or for as long as patience lasts. */
async function walletsOnTheBus(stack: TestStack, wanted: ReadonlySet<string>): Promise<Set<string>> {
  const told = new Set<string>();
  const bus = await openTestBus(stack);
  const subscription = await bus.subscribe({
    group: `e2e.${Date.now()}`,
    topics: ["wonrail.wallet.v1"],
    handleBatch: async (messages) => {
      for (const { headers } of messages) {
        if (headers.event_type === "wallet_created") told.add(headers.aggregate_id!);
      }
    },
  });
  const deadline = Date.now() + PATIENCE_MS;
  while ([...wanted].some((walletId) => !told.has(walletId)) && Date.now() < deadline) await sleep(50);
  await subscription.close();
  await bus.close();
  return told;
}

function openTestBus(stack: TestStack): Promise<Bus> {
  const { bus, postgres } = stack.stack();
  const common = { clientId: "e2e", log: createLog({ service: "e2e", level: "silent" }) };
  if (bus.kind === "kafka") return openBus({ kind: "kafka", brokers: bus.brokers.split(","), ...common });
  return openBus({ kind: "postgres", url: postgres.urls.wallet!, ...common });
}
