import { setTimeout as sleep } from "node:timers/promises";
import { sqlStateOf } from "./errors";

/** Who waits for a lock on a table makes everyone behind wait too, so a change of the schema gives up soon and tries again. */
export const LOCK_TIMEOUT_MS = 2_000;
const LOCK_ATTEMPTS = 30;
const TURN_TIMEOUT_MS = 600_000;
const TURN_POLL_MS = 100;

/** For work that can be done again from its beginning, on a connection with that lock timeout. Between two attempts the others get on. */
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
 * Asks for an advisory lock again and again instead of waiting for it inside Postgres: a waiting statement holds a snapshot, for which CREATE INDEX
 * CONCURRENTLY would wait for ever.
 */
export async function waitForTurn(tryLock: () => Promise<boolean>, schema: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < TURN_TIMEOUT_MS; waitedMs += TURN_POLL_MS) {
    if (await tryLock()) return;
    await sleep(TURN_POLL_MS);
  }
  throw new Error(`another migrator has held schema ${schema} for ${TURN_TIMEOUT_MS / 60_000} minutes`);
}
