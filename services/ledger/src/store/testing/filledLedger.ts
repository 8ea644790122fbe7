import { sql, type Queryable } from "@wonrail/kit/db";
import { openTestDatabase } from "@wonrail/kit/testing";
import { startTestLedger, type TestLedger } from "../../commands/testing/ledger";

export interface FilledLedger {
  ledger: TestLedger;
  /** Ends the names of this month's partitions. */
  month: string;
}

/** A ledger whose tables the owner fills with SQL. */
export async function startFilledLedger(
  fill: (owner: Queryable, month: string) => Promise<void>,
): Promise<FilledLedger> {
  const ledger = await startTestLedger();
  const { db, ownerUrl } = ledger.database;
  const { month } = await db.one<{ month: string }>(sql`
    select name as month from journal_partitions where from_at <= now() and until_at > now()`);
  const owner = openTestDatabase(ownerUrl, "ledger", { max: 1 });
  try {
    await fill(owner, month);
  } finally {
    await owner.close();
  }
  return { ledger, month };
}
