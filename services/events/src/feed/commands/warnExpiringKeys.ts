import { newId } from "@wonrail/kit/contract/ids";
import { type Database, tx } from "@wonrail/kit/db";
import { keyChange, WARNING_DAYS } from "../domain/keys";
import { deleteExpiredKeys, lockExpiringKeys, saveWarnings } from "../store/apiKeys";
import { publishChanges } from "./publishChanges";

const BATCH_SIZE = 500;

/** Publishes api_key.expiring for keys that expire soon, once for each warning. Forgets keys that have expired. */
export async function warnExpiringKeys({ db }: { db: Database }, signal: AbortSignal): Promise<void> {
  for (const days of WARNING_DAYS) {
    while (!signal.aborted && (await warn(db, days)) === BATCH_SIZE);
  }
  while (!signal.aborted && (await deleteExpiredKeys(db, BATCH_SIZE)) === BATCH_SIZE);
}

async function warn(db: Database, days: number): Promise<number> {
  return tx(db, async (tx) => {
    const keys = await lockExpiringKeys(tx, days, BATCH_SIZE);
    if (keys.length === 0) return 0;
    const occurredAt = new Date();
    await publishChanges(tx, keys, () =>
      keys.map((key) => keyChange({ sourceId: newId("evt"), occurredAt }, key, "api_key.expiring")),
    );
    saveWarnings(tx, keys, days);
    return keys.length;
  });
}
