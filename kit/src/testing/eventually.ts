import { setTimeout as sleep } from "node:timers/promises";

/**
 * Repeats the check until it stops throwing, and gives what it returned; after the time is over, its last error. The time is only a limit,
 * wide enough for a machine that stalls: what passes does not wait for it.
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
