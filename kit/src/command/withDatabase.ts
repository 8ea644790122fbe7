import { openDatabase, type Database, type DatabaseOptions } from "../db";
import { isConnectionLoss, sqlStateOf } from "../db/errors";
import { isNotExecuted } from "../contract/errors";
import { localHome, readLocalStack, stackFileIn } from "../localStack";
import { createLog } from "../log";
import { CouldNotRun } from "./runCommands";

/** Configuration takes precedence over the local stack. */
interface DatabasePlace {
  DATABASE_URL?: string | undefined;
  WONRAIL_HOME?: string | undefined;
}

/** Opens one service's database for the work. Connection problems are reported in one sentence. */
export async function withDatabase<T>(
  place: DatabasePlace,
  service: string,
  work: (db: Database) => Promise<T>,
  options: Pick<DatabaseOptions, "statementTimeoutMs"> = {},
): Promise<T> {
  const url = databaseUrl(place, service);
  const schema = service.replaceAll("-", "_");
  const log = createLog({ service: "admin", level: "silent" });
  const db = openDatabase({ url, schema, applicationName: "admin", max: 2, log, ...options });
  try {
    return await work(db);
  } catch (error) {
    const problem = problemOf(error, url, schema);
    throw problem === undefined ? error : new CouldNotRun(problem);
  } finally {
    await db.close();
  }
}

function databaseUrl({ DATABASE_URL, WONRAIL_HOME }: DatabasePlace, service: string): string {
  if (DATABASE_URL !== undefined) return DATABASE_URL;
  const home = localHome(WONRAIL_HOME);
  const url = readLocalStack(home)?.postgres?.urls?.[service];
  if (url !== undefined) return url;
  throw new CouldNotRun(
    `There is no ${service} database: ${stackFileIn(home)} names none. Start the stack with npm run up, or set DATABASE_URL.`,
  );
}

function problemOf(error: unknown, url: string, schema: string): string | undefined {
  const { host, username } = new URL(url);
  if (NOT_OURS.has(sqlStateOf(error) ?? "")) {
    const reason = (error as Error).message;
    return `The database at ${host} shows ${username} no schema ${schema} of this service (${reason}). Set DATABASE_URL to the one for ${schema}.`;
  }
  if (!isNotExecuted(error)) return undefined;
  const { cause } = error as Error;
  if (cause instanceof Error && !isConnectionLoss(cause))
    return `The database at ${host} could not do it: ${cause.message}.`;
  return `The database at ${host} cannot be reached. Start the stack with npm run up, or set DATABASE_URL.`;
}

/** Missing table, schema, or right to it: PostgreSQL treats a forbidden schema as absent. */
const NOT_OURS = new Set(["42P01", "3F000", "42501"]);
