import { setTimeout as sleep } from "node:timers/promises";
import { type Log } from "../log";
import { isUnreachable } from "./errors";

/** A process may start before its database is reachable, or among many slow ones. */
const PATIENCE_MS = 30_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;
/** Timeout of such a connection: a silent server counts as away. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** Repeats start-up work while the database is away. A permanent error ends the start at once. */
export async function untilReachable<T>(work: () => Promise<T>, log: Log): Promise<T> {
  const endMs = performance.now() + PATIENCE_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isUnreachable(error) || performance.now() + pauseMs > endMs) throw error;
      log.warn({ err: error }, "waiting for the database");
      await sleep(pauseMs);
    }
  }
}
