import { type Database } from "@wonrail/kit/db";
import { deleteOldEarlySettlements } from "../store/earlySettlements";
import { deleteEventsBefore } from "../store/events";

/** The contract keeps events for 30 days. */
const KEEP_MS = 30 * 86_400_000;
const WINDOW = 5_000;

/** Deletes old events in windows, so that no transaction is long. */
export async function deleteOldEvents({ db }: { db: Database }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await deleteEventsBefore(db, KEEP_MS, WINDOW)) === WINDOW);
  while (!signal.aborted && (await deleteOldEarlySettlements(db, KEEP_MS, WINDOW)) === WINDOW);
}
