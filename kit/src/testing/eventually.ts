import { setTimeout as sleep } from "node:timers/promises";

/**
 * Repeats the check until it stops throwing, and returns its result; throws its last error on
 * timeout. The timeout is generous for stalled machines, and does not delay a passing check.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 15_000, intervalMs = 20 }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<T> {
  const endMs = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() >= endMs) throw error;
    }
    await sleep(intervalMs);
  }
}
