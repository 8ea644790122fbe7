import { Client } from "pg";
import { type Schema, type WorldAccess } from "./access";

export type Rows = <R>(text: string, values?: unknown[]) => Promise<R[]>;

/** Runs work on one service's database, in a read-only session. */
export async function withDatabase<T>(
  { databaseUrls }: Pick<WorldAccess, "databaseUrls">,
  schema: Schema,
  work: (rows: Rows) => Promise<T>,
): Promise<T> {
  const options = `-c search_path=${schema.replace("-", "_")} -c default_transaction_read_only=on`;
  const client = new Client({ connectionString: databaseUrls[schema], options });
  await client.connect();
  try {
    return await work(async <R>(text: string, values?: unknown[]) => {
      return (await client.query(text, values)).rows as R[];
    });
  } finally {
    await client.end();
  }
}
