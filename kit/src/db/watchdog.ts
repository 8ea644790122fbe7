import type { Duplex } from "node:stream";
import type { ClientBase } from "pg";

const CHECK_EVERY_MS = 1_000;
/** However many statements are in one message: each takes milliseconds, and all that waits behind a lost answer waits as long as this. */
const MOST_STATEMENTS = 2;

/**
 * Ends connections whose answer is overdue. The server's statement_timeout cannot help when the network swallows the answer, and the
 * driver's query_timeout gives the broken connection back to the pool; so the connection itself is closed, which fails its query.
 */
export interface Watchdog {
  /** Several statements that are answered together have the time of two. */
  started(client: ClientBase, statements?: number): void;
  ended(client: ClientBase, statements?: number): void;
  /** True of one that was last answered before another was asked that never answered: whatever took that one's answers may have it as well. */
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

/** The socket itself: a pipelining client's `end` would wait for the very answers that do not come. */
export function endNow(client: ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: Duplex } };
  connection.stream.destroy();
}
