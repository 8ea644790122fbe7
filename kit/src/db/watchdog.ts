import type { ClientBase } from "pg";

const CHECK_EVERY_MS = 1_000;
/**
 * Limit of statements that extend the timeout: each takes milliseconds, and later ones wait as long
 * behind a lost answer.
 */
const MOST_STATEMENTS = 2;

/**
 * Ends connections with an overdue answer. The server's statement_timeout cannot help when the
 * network swallows the answer, and the driver's query_timeout returns the broken connection to the
 * pool. Closing the connection fails its query.
 */
export interface Watchdog {
  started(client: ClientBase): void;
  ended(client: ClientBase): void;
  /** True when the last answer is older than the first question of a connection that went silent: the same outage may have cut both. */
  isSuspect(client: ClientBase): boolean;
  stop(): void;
}

export interface WatchdogOptions {
  statementTimeoutMs: number;
  graceMs: number;
  /** Closes a connection at once. */
  end: (client: ClientBase) => void;
}

export function createWatchdog({ statementTimeoutMs, graceMs, end }: WatchdogOptions): Watchdog {
  const inFlight = new Map<ClientBase, { statements: number; sinceMs: number }>();
  const answeredMs = new WeakMap<ClientBase, number>();
  let suspectBeforeMs = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (const [client, { statements, sinceMs }] of inFlight) {
      const allowedMs = Math.min(statements, MOST_STATEMENTS) * statementTimeoutMs + graceMs;
      if (nowMs - sinceMs <= allowedMs) continue;
      suspectBeforeMs = Math.max(suspectBeforeMs, sinceMs);
      end(client);
    }
  }, CHECK_EVERY_MS);
  timer.unref();

  return {
    started(client) {
      const entry = inFlight.get(client);
      if (entry) entry.statements += 1;
      else inFlight.set(client, { statements: 1, sinceMs: performance.now() });
    },
    ended(client) {
      const entry = inFlight.get(client);
      if (!entry) return;
      entry.statements -= 1;
      entry.sinceMs = performance.now();
      answeredMs.set(client, entry.sinceMs);
      if (entry.statements === 0) inFlight.delete(client);
    },
    isSuspect: (client) => (answeredMs.get(client) ?? Infinity) < suspectBeforeMs,
    stop: () => clearInterval(timer),
  };
}
