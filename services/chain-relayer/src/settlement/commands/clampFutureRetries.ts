import { type Database } from "@wonrail/kit/db";
import { type Log } from "@wonrail/kit/log";
import * as store from "../store/futureRetries";

/** Moves retries to now that a database clock set back would delay. */
export async function clampFutureRetries({ db, log }: { db: Database; log: Log }): Promise<void> {
  const count = await store.clampFutureRetries(db);
  if (count > 0)
    log.warn({ count }, "the database's clock was set back; operations that waited are tried now");
}
