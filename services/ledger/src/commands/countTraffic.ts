import type { Database } from "@wonrail/kit/db";
import { countMinutes, deleteOldMinutes } from "../store/traffic";

/** Counts the last minutes for operators, and forgets old ones. */
export async function countTraffic({ db }: { db: Database }): Promise<void> {
  if ((await countMinutes(db)) > 0) await deleteOldMinutes(db);
}
