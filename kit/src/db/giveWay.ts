import { setTimeout as sleep } from "node:timers/promises";
import { sqlStateOf } from "./errors";

/** A waiting table lock blocks all later queries, so a schema change gives up soon and retries. */
export const LOCK_TIMEOUT_MS = 2_000;
const LOCK_ATTEMPTS = 30;
const TURN_TIMEOUT_MS = 600_000;
const TURN_POLL_MS = 100;

/** Repeats work under that lock timeout from its beginning. Others proceed between two attempts. */
export async function givingWay(
  work: () => Promise<unknown>,
  onLocked: (attempt: number) => void,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (sqlStateOf(error) !== "55P03" || attempt >= LOCK_ATTEMPTS) throw error;
      onLocked(attempt);
      await sleep(Math.random() * 1_000);
    }
  }
}

/**
 * Polls for an advisory lock instead of waiting inside Postgres: a waiting statement holds a
 * snapshot, for which CREATE INDEX CONCURRENTLY would wait for ever.
 */
export async function waitForTurn(tryLock: () => Promise<boolean>, schema: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < TURN_TIMEOUT_MS; waitedMs += TURN_POLL_MS) {
    if (await tryLock()) return;
    await sleep(TURN_POLL_MS);
  }
  throw new Error(`another migrator has held schema ${schema} for ${TURN_TIMEOUT_MS / 60_000} minutes`);
}
