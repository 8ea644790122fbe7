import { openDatabase, type Database } from "@wonrail/kit/db";
import { testLog } from "@wonrail/kit/testing";
import { type Stack } from "@wonrail/local/stackFile";

/** Looks into a running stack's database, past its services. */
export async function asAdmin<T>(
  { postgres }: Stack,
  schema: string,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const url = postgres.urls.admin!;
  const db = openDatabase({ url, schema, applicationName: "e2e", max: 1, log: testLog() });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
