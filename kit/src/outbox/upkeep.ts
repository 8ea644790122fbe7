import type { Database } from "../db";
import type { Log } from "../log";
import { createPause } from "../pause";
import type { RelayMetrics } from "./relayMetrics";
import { pruneWindow, readBacklog } from "./store";

const BACKLOG_EVERY_MS = 5_000;
const PRUNE_EVERY_MS = 60_000;
const PRUNE_WINDOW = 5_000;
const PRUNE_WINDOWS_AT_ONCE = 200;

export interface UpkeepOptions {
  db: Database;
  log: Log;
  metrics: RelayMetrics;
  partitions: number;
  retainMs: number;
  withKafka: boolean;
}

/**
 * Measures the backlog and prunes old events. Every replica measures, because the backlog matters most
 * while no relay is active.
 */
export function startUpkeep(options: UpkeepOptions): { close(): Promise<void> } {
  const { db, log, metrics, partitions, retainMs, withKafka } = options;
  const rest = createPause();
  const run = async (): Promise<void> => {
    // Replicas that started together do not prune together.
    let nextPruneMs = performance.now() + Math.random() * PRUNE_EVERY_MS;
    while (!rest.closed) {
      try {
        await measureBacklog(db, metrics, withKafka);
        if (performance.now() >= nextPruneMs) {
          nextPruneMs = performance.now() + PRUNE_EVERY_MS;
          await pruneOutbox(db, partitions, retainMs);
        }
      } catch (error) {
        log.warn({ err: error }, "the outbox could not be measured or pruned");
      }
      await rest.sleepUnwoken(BACKLOG_EVERY_MS);
    }
  };
  const done = run();
  return {
    async close() {
      rest.close();
      await done;
    },
  };
}

/** Exported for its test. */
export async function measureBacklog(db: Database, metrics: RelayMetrics, withKafka: boolean): Promise<void> {
  try {
    metrics.backlog(await readBacklog(db, withKafka));
  } catch (error) {
    metrics.backlog(null);
    throw error;
  }
}

/** Exported for its test. */
export async function pruneOutbox(
  db: Database,
  partitions: number,
  retainMs: number,
  window = PRUNE_WINDOW,
): Promise<void> {
  for (let partition = 0; partition < partitions; partition += 1) {
    for (let count = 0; count < PRUNE_WINDOWS_AT_ONCE; count += 1)
      if ((await pruneWindow(db, partition, retainMs, window)) < window) break;
  }
}
