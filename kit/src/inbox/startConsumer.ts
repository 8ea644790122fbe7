import type { Bus } from "../bus/port";
import type { Database } from "../db";
import type { Log } from "../log";
import type { Registry } from "../metrics";
import { type Pause, pause } from "../pause";
import { consumerMetrics, type ConsumerMetrics } from "./consumerMetrics";
import type { ConsumerSpec } from "./events";
import { handleBatch, type Consumer } from "./handleBatch";
import { replayRequested } from "./replay";
import { pruneInboxWindow } from "./store";

export interface StartConsumerOptions {
  db: Database;
  bus: Bus;
  spec: ConsumerSpec;
  log: Log;
  registry: Registry;
  /** The consumer is gone for good: it has to be closed, and another started. */
  onCrash: (error: Error) => void;
  /** Ends the waiting for the bus. */
  signal?: AbortSignal;
}

export interface RunningConsumer {
  /** Waits for the batch in hand. */
  close(): Promise<void>;
  /** False when it no longer moves although it should: the process should be restarted. */
  live(): boolean;
}

const MAX_BATCH = 800;
/** Less than a rebalance waits for a member that is at work, and much less than a call may take before its consumer counts as stuck. */
export const ALONE_MS = 20_000;
const LAG_EVERY_MS = 10_000;
const REPLAY_EVERY_MS = 2_000;
const PRUNE_EVERY_MS = 3_600_000;
const PRUNE_WINDOW = 5_000;
const PRUNE_WINDOWS_AT_ONCE = 1_000;
/** Twice as long as the bus keeps messages, which is a week. */
const RETAIN_MS = 14 * 86_400_000;
const LOWEST_UUID = "00000000-0000-0000-0000-000000000000";

/** Consumes the topics for the group: each event has its effect once, and what cannot be worked on is put aside. */
export async function startConsumer(options: StartConsumerOptions): Promise<RunningConsumer> {
  const { db, bus, spec, log, registry, onCrash, signal } = options;
  const rest = pause();
  const metrics = consumerMetrics(registry, spec.group);
  const consumer: Consumer = { db, spec, log, rest, metrics, aloneMs: ALONE_MS };
  const subscription = await bus.subscribe({
    group: spec.group,
    topics: spec.topics,
    maxBatch: MAX_BATCH,
    handleBatch: (messages) => handleBatch(consumer, messages),
    onCrash,
    ...(signal && { signal }),
  });
  // Whoever closes does not wait for the answer: a bus that is away gives it after minutes.
  void everyRound(consumer, LAG_EVERY_MS, () => measureLag(bus, spec, metrics, rest));
  const rounds = [
    everyRound(consumer, REPLAY_EVERY_MS, () => replayRequested(consumer)),
    everyRound(consumer, PRUNE_EVERY_MS, () => pruneInbox(db, spec.group)),
  ];
  return {
    live: () => subscription.live(),
    async close() {
      rest.close();
      metrics.lag([]);
      await subscription.close();
      await Promise.all(rounds);
    },
  };
}

async function everyRound(
  { log, spec, rest }: Consumer,
  everyMs: number,
  round: () => Promise<unknown>,
): Promise<void> {
  while (!rest.closed) {
    await round().catch((error: unknown) => {
      if (!rest.closed) log.warn({ err: error, group: spec.group }, "upkeep of a consumer failed");
    });
    await rest.sleepUnwoken(everyMs);
  }
}

/** Exported for its test. */
export async function measureLag(
  bus: Pick<Bus, "lag">,
  { group, topics }: Pick<ConsumerSpec, "group" | "topics">,
  metrics: ConsumerMetrics,
  rest: Pick<Pause, "closed"> = { closed: false },
): Promise<void> {
  try {
    const lag = await bus.lag(group, topics);
    // Another consumer may tell of it by now.
    if (!rest.closed) metrics.lag(lag);
  } catch (error) {
    if (!rest.closed) metrics.lag([]);
    throw error;
  }
}

/** Exported for its test. */
export async function pruneInbox(
  db: Database,
  group: string,
  retainMs = RETAIN_MS,
  window = PRUNE_WINDOW,
): Promise<void> {
  let afterId = LOWEST_UUID;
  for (let count = 0; count < PRUNE_WINDOWS_AT_ONCE; count += 1) {
    const { last_id: lastId, old } = await pruneInboxWindow(db, group, afterId, retainMs, window);
    if (lastId === null || old === 0) return;
    afterId = lastId;
  }
}
