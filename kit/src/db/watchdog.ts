import type { Duplex } from "node:stream";
import type { ClientBase } from "pg";

const CHECK_EVERY_MS = 1_000;

/**
 * Ends connections whose answer is overdue. The server's statement_timeout cannot help when the network swallows the answer, and the
 * driver's query_timeout gives the broken connection back to the pool; so the connection itself is closed, which fails its query.
 */
export interface Watchdog {
  started(client: ClientBase): void;
  ended(client: ClientBase): void;
  stop(): void;
}

export function createWatchdog(maxMs: number): Watchdog {
  const inFlight = new Map<ClientBase, { count: number; sinceMs: number }>();
  const timer = setInterval(() => {
    const oldestMs = Date.now() - maxMs;
    for (const [client, { sinceMs }] of inFlight) {
      if (sinceMs < oldestMs) endNow(client);
    }
  }, CHECK_EVERY_MS);
  timer.unref();

  return {
    started(client) {
      const entry = inFlight.get(client);
      if (entry) entry.count += 1;
      else inFlight.set(client, { count: 1, sinceMs: Date.now() });
    },
    ended(client) {
      const entry = inFlight.get(client);
      if (!entry) return;
      entry.count -= 1;
      entry.sinceMs = Date.now();
      if (entry.count === 0) inFlight.delete(client);
    },
    stop: () => clearInterval(timer),
  };
}

/** The socket itself: a pipelining client's `end` would wait for the very answers that do not come. */
function endNow(client: ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: Duplex } };
  connection.stream.destroy();
}
