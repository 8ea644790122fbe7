import { Client, DatabaseError, escapeIdentifier } from "pg";
import { CONNECT_TIMEOUT_MS } from "../db/untilReachable";

const DATABASE_NAME = /^[a-z][a-z0-9_]{0,62}$/;
/** duplicate_database, and unique_violation when two processes create it at once. */
const EXISTS = new Set(["42P04", "23505"]);

/** Creates the database if it is absent. Returns the administrator's URL for it. */
export async function ensureDatabase(adminUrl: string, name: string): Promise<string> {
  if (!DATABASE_NAME.test(name))
    throw new Error(`${name}: a database's name is lower case letters, digits and _`);
  const client = new Client({
    connectionString: adminUrl,
    application_name: `create ${name}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rowCount } = await client.query("select from pg_database where datname = $1", [name]);
    if (rowCount === 0) await create(client, name);
  } finally {
    await client.end();
  }
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.toString();
}

async function create(client: Client, name: string): Promise<void> {
  try {
    await client.query(`create database ${escapeIdentifier(name)} template template0 encoding 'UTF8'`);
  } catch (error) {
    if (!(error instanceof DatabaseError && EXISTS.has(error.code ?? ""))) throw error;
  }
}
