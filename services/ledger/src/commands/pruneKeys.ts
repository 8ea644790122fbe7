import type { Database } from "@wonrail/kit/db";
import type { Log } from "@wonrail/kit/log";
import { pruneKeys as deleteKeys } from "../store/requestKeys";

/** The contract promises 31 days: longer than a charge can be cancelled. */
const KEPT_MS = 32 * 24 * 3_600_000;
const WINDOW = 5_000;

/** Deletes expired idempotency keys in bounded statements, oldest first. */
export async function pruneKeys(
  { db, log }: { db: Database; log: Log },
  signal?: AbortSignal,
  nowMs = Date.now(),
): Promise<number> {
  let pruned = 0;
  for (;;) {
    const deleted = await deleteKeys(db, new Date(nowMs - KEPT_MS), WINDOW);
    pruned += deleted;
    if (deleted < WINDOW || signal?.aborted) break;
  }
  if (pruned > 0) log.info({ keys: pruned }, "idempotency keys pruned");
  return pruned;
}
