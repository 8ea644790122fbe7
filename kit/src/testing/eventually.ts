import { setTimeout as sleep } from "node:timers/promises";

/**
 * A failed check costs processor time in everything that it asks, so the pauses grow with the wait.
 * They delay the end by a tenth at most.
 */
const PAUSES_MS = { least: 20, most: 250 };
const PART_OF_WAIT = 1 / 10;

/**
 * Repeats the check until it stops throwing, and returns its result; throws its last error on
 * timeout. The timeout is generous for stalled machines, and does not delay a passing check. A check
 * for a state that soon passes needs an `intervalMs`.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 15_000, intervalMs }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<T> {
  const startedMs = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() - startedMs >= timeoutMs) throw error;
    }
    await sleep(intervalMs ?? pauseAfter(performance.now() - startedMs));
  }
}

function pauseAfter(waitedMs: number): number {
  return Math.min(PAUSES_MS.most, Math.max(PAUSES_MS.least, waitedMs * PART_OF_WAIT));
}
