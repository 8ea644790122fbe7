import type { Duplex } from "node:stream";
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
  /** Several statements that are answered together have the time of two. */
  started(client: ClientBase, statements?: number): void;
  ended(client: ClientBase, statements?: number): void;
  /**
   * True for a connection that was last answered before another one fell silent: both may have lost
   * the network.
   */
  isDoubted(client: ClientBase): boolean;
  stop(): void;
}

export function createWatchdog(statementTimeoutMs: number, graceMs: number): Watchdog {
  const inFlight = new Map<ClientBase, { statements: number; sinceMs: number }>();
  const answeredMs = new WeakMap<ClientBase, number>();
  let doubtedBeforeMs = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (const [client, { statements, sinceMs }] of inFlight) {
      const allowedMs = Math.min(statements, MOST_STATEMENTS) * statementTimeoutMs + graceMs;
      if (nowMs - sinceMs <= allowedMs) continue;
      doubtedBeforeMs = Math.max(doubtedBeforeMs, sinceMs);
      endNow(client);
    }
  }, CHECK_EVERY_MS);
  timer.unref();

  return {
    started(client, statements = 1) {
      const entry = inFlight.get(client);
      if (entry) entry.statements += statements;
      else inFlight.set(client, { statements, sinceMs: performance.now() });
    },
    ended(client, statements = 1) {
      const entry = inFlight.get(client);
      if (!entry) return;
      entry.statements -= statements;
      entry.sinceMs = performance.now();
      answeredMs.set(client, entry.sinceMs);
      if (entry.statements === 0) inFlight.delete(client);
    },
    isDoubted: (client) => (answeredMs.get(client) ?? Infinity) < doubtedBeforeMs,
    stop: () => clearInterval(timer),
  };
}

/**
 * Closes the socket itself, because a pipelining client's `end` would wait for the missing answers.
 */
export function endNow(client: ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: Duplex } };
  connection.stream.destroy();
}
