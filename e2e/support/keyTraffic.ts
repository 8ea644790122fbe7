import { setTimeout as sleep } from "node:timers/promises";
import { openBus, type Bus } from "@wonrail/kit/bus";
import { createLog } from "@wonrail/kit/log";
import { KeyIssued } from "@wonrail/proto/auth/events/v1/events";
import type { TestStack } from "./startStack";

export interface KeyTraffic {
  /** Waits for so many more keys than there are now. */
  untilMore(keys: number): Promise<void>;
  /** How many keys were handed out, and those of them of which the bus never told. */
  stop(): Promise<{ issued: number; missing: string[] }>;
}

const PAUSE_MS = 50;
const PATIENCE_MS = 30_000;

/** Refreshes the demo organisation's key over and over. Whatever was answered with a new key must be an event on the bus. */
export function startKeyTraffic(stack: TestStack): KeyTraffic {
  const { gatewayUrl, organisations } = stack.stack();
  const { secretKey, ...organisation } = organisations[0]!;
  const issued = new Set<string>();
  let { apiKey } = organisation;
  let stopped = false;

  async function refresh(): Promise<void> {
    const response = await fetch(`${gatewayUrl}/api/wallet-auth/refresh`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ apiKey, secretKey }),
      signal: AbortSignal.timeout(15_000),
    });
    const { data } = (await response.json()) as { data?: { newApiKey: string } };
    if (!data) return;
    apiKey = data.newApiKey;
    issued.add(prefixOf(apiKey));
  }

  const running = (async () => {
    while (!stopped) {
      // Whoever is killed just now refuses or hangs up. What matters is what was answered.
      await refresh().catch(() => undefined);
      await sleep(PAUSE_MS);
    }
  })();

  return {
    async untilMore(keys) {
      const goal = issued.size + keys;
      for (let waitedMs = 0; issued.size < goal; waitedMs += 50) {
        if (waitedMs > PATIENCE_MS) throw new Error(`No ${keys} keys within ${PATIENCE_MS / 1000} s.`);
        await sleep(50);
      }
    },
    async stop() {
      stopped = true;
      await running;
      const told = await keysOnTheBus(stack, issued);
      return { issued: issued.size, missing: [...issued].filter((prefix) => !told.has(prefix)) };
    },
  };
}

/** Reads the topic from its beginning until every key was told of, or for as long as patience lasts. */
async function keysOnTheBus(stack: TestStack, wanted: ReadonlySet<string>): Promise<Set<string>> {
  const told = new Set<string>();
  const bus = await openTestBus(stack);
  const subscription = await bus.subscribe({
    group: `e2e.${Date.now()}`,
    topics: ["wonrail.auth.v1"],
    handleBatch: async (messages) => {
      for (const { headers, value } of messages) {
        if (headers.event_type === "key_issued") told.add(KeyIssued.decode(value).keyPrefix);
      }
    },
  });
  const deadline = Date.now() + PATIENCE_MS;
  while ([...wanted].some((prefix) => !told.has(prefix)) && Date.now() < deadline) await sleep(50);
  await subscription.close();
  await bus.close();
  return told;
}

function openTestBus(stack: TestStack): Promise<Bus> {
  const { bus, postgres } = stack.stack();
  const common = { clientId: "e2e", log: createLog({ service: "e2e", level: "silent" }) };
  if (bus.kind === "kafka") return openBus({ kind: "kafka", brokers: bus.brokers.split(","), ...common });
  return openBus({ kind: "postgres", url: postgres.urls.auth!, ...common });
}

/** "wk_test_<id>_<secret>" is known by its first three parts. */
function prefixOf(apiKey: string): string {
  return apiKey.split("_").slice(0, 3).join("_");
}
