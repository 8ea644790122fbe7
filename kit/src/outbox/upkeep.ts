import type { Database } from "../db";
import type { Log } from "../log";
import { pause } from "../pause";
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
  retainMs: number;
}

/** Measures the backlog, in every replica (also when no relay is active, which is when it matters), and removes old published events. */
export function startUpkeep({ db, log, metrics, retainMs }: UpkeepOptions): { close(): Promise<void> } {
  const rest = pause();
  const run = async (): Promise<void> => {
    // Replicas that started together should not prune together.
    let nextPruneMs = performance.now() + Math.random() * PRUNE_EVERY_MS;
    while (!rest.closed) {
      try {
        await measureBacklog(db, metrics);
        if (performance.now() >= nextPruneMs) {
          nextPruneMs = performance.now() + PRUNE_EVERY_MS;
          await pruneOutbox(db, retainMs);
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
export async function measureBacklog(db: Database, metrics: RelayMetrics): Promise<void> {
  try {
    metrics.backlog(await readBacklog(db));
  } catch (error) {
    metrics.backlog(null);
    throw error;
  }
}

/** Exported for its test. */
export async function pruneOutbox(db: Database, retainMs: number, window = PRUNE_WINDOW): Promise<void> {
  let afterId = 0n;
  for (let count = 0; count < PRUNE_WINDOWS_AT_ONCE; count += 1) {
    const { last_id: lastId, old } = await pruneWindow(db, afterId, retainMs, window);
    if (lastId === null || old < window) return;
    afterId = lastId;
  }
}
