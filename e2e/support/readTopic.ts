import { setTimeout as sleep } from "node:timers/promises";
import { type Bus, openBus } from "@wonrail/kit/bus";
import { createLog } from "@wonrail/kit/log";
import { type TestStack } from "./startStack";

export interface Wanted {
  /** The service whose topic is read. */
  service: "wallet";
  type: string;
  /** What the events have to be about. */
  ids: ReadonlySet<string>;
}

const PATIENCE_MS = 120_000;

/** Reads a topic from its beginning until each of the ids was told of, or for as long as patience lasts. Gives those that were not. */
export async function missingOnTheBus(stack: TestStack, { service, type, ids }: Wanted): Promise<string[]> {
  const missing = new Set(ids);
  const bus = await openTestBus(stack, service);
  const subscription = await bus.subscribe({
    group: `e2e.${Date.now()}`,
    topics: [`wonrail.${service}.v1`],
    handleBatch: async (messages) => {
      for (const { headers } of messages) {
        if (headers.event_type === type) missing.delete(headers.aggregate_id!);
      }
    },
  });
  const deadline = Date.now() + PATIENCE_MS;
  while (missing.size > 0 && Date.now() < deadline) await sleep(50);
  await subscription.close();
  await bus.close();
  return [...missing];
}

function openTestBus(stack: TestStack, service: string): Promise<Bus> {
  const { bus, postgres } = stack.stack();
  const common = { clientId: "e2e", log: createLog({ service: "e2e", level: "silent" }) };
  if (bus.kind === "kafka") return openBus({ kind: "kafka", brokers: bus.brokers.split(","), ...common });
  return openBus({ kind: "postgres", url: postgres.urls[service]!, ...common });
}
