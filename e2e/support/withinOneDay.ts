import { setTimeout as sleep } from "node:timers/promises";

const DAY_MS = 86_400_000;
/** Korea has had no summer time since 1988. */
const SEOUL_OFFSET_MS = 9 * 3_600_000;

/** Waits for tomorrow when today, of which Seoul's limits are, ends before a test that counts on one day is done. */
export async function withinOneDay(neededMs = 30_000): Promise<void> {
  const leftMs = DAY_MS - ((Date.now() + SEOUL_OFFSET_MS) % DAY_MS);
  if (leftMs < neededMs) await sleep(leftMs + 100);
}
