import { type Database, sql } from "../db";

/** The contract keeps keys for at least 31 days. */
const KEEP_DAYS = 32;
const BATCH_SIZE = 1_000;

/** Deletes old keys in batches, so that no transaction is long. */
export async function deleteOldKeys(db: Database, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await deleteBatch(db)) === BATCH_SIZE);
}

function deleteBatch(db: Database): Promise<number> {
  return db.run(sql`
    delete from idempotency_keys where ctid = any(array(
      select ctid from idempotency_keys where stored_at < now() - ${KEEP_DAYS} * interval '1 day'
      limit ${BATCH_SIZE} for update skip locked))`);
}
