import { type Database, tx } from "@wonrail/kit/db";
import * as operations from "../store/operations";

/** A key works for longer than a charge can be cancelled: 31 days is promised, one more is given. */
const KEPT_DAYS = 32;
const AT_ONCE = 1_000;

export async function deleteOldOperations({ db }: { db: Database }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const which = { olderThanDays: KEPT_DAYS, nowMs: Date.now(), limit: AT_ONCE };
    const deleted = await tx(db, (tx) => operations.deleteOldOperations(tx, which));
    if (deleted < AT_ONCE) return;
  }
}
