import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { type Database, tx } from "@wonrail/kit/db";
import { skipKeyIndexes as skip } from "../store/seeds";

/**
 * More wallets than an organisation can have created since the backup. A seed has room for a hundred
 * such steps.
 */
const SKIPPED_INDEXES = 20_000_000;

/**
 * After a restore of the database: leaves out the key indexes of wallets that the restore lost.
 * Returns the number of organisations.
 */
export function skipKeyIndexes({ db }: { db: Database }, operator: ActingOperator): Promise<number> {
  return tx(db, async (tx) => {
    const organisations = await skip(tx, SKIPPED_INDEXES);
    const details = { organisations, skippedIndexes: SKIPPED_INDEXES };
    await recordOperatorAction(tx, operator, { subject: "key indexes", details });
    return organisations;
  });
}
