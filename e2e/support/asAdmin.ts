import { openDatabase, type Database } from "@wonrail/kit/db";
import { testLog } from "@wonrail/kit/testing";
import { databaseOf, withDatabase } from "@wonrail/local/databases";
import { type Stack } from "@wonrail/local/stackFile";

/** Opens one service's database as the superuser. */
export async function asAdmin<T>(
  { postgres }: Stack,
  schema: string,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const url = withDatabase(postgres.urls.admin!, databaseOf(schema));
  const db = openDatabase({ url, schema, applicationName: "e2e", max: 1, log: testLog() });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
