import { setTimeout as sleep } from "node:timers/promises";

const DAY_MS = 86_400_000;
/** Korea has had no summer time since 1988. */
const SEOUL_OFFSET_MS = 9 * 3_600_000;

/**
 * Waits for the next day in Seoul when the present one ends during the test, because limits are per
 * day.
 */
export async function withinOneDay(neededMs = 30_000): Promise<void> {
  const leftMs = DAY_MS - ((Date.now() + SEOUL_OFFSET_MS) % DAY_MS);
  if (leftMs < neededMs) await sleep(leftMs + 100);
}
