import { type Database, openDatabase } from "../db";
import { createLog } from "../log";
import { wrongDatabase } from "../operator";
import { readConfig } from "./config";

export const EXIT = { done: 0, refused: 1, usage: 64 };

export interface CommandPlace {
  /** As it is seen among the database's connections. */
  name: string;
  schema: string;
  out: (text: string) => void;
  /** That of the pod where it is not given. */
  databaseUrl: string | undefined;
}

/**
 * What an operator runs in the pod of any service: on that service's own schema, which nobody else's password opens. Gives the exit code; a database
 * that is another service's is said, and nothing is done.
 */
export async function onServiceDatabase(
  { name, schema, out, databaseUrl }: CommandPlace,
  work: (db: Database) => Promise<number>,
): Promise<number> {
  const url = databaseUrl ?? readConfig().DATABASE_URL;
  const log = createLog({ service: name, level: "silent" });
  const db = openDatabase({ url, schema, applicationName: name, max: 1, log });
  try {
    return await work(db);
  } catch (error) {
    const problem = wrongDatabase(error, url, schema);
    if (problem === undefined) throw error;
    return (out(`${problem}\n`), EXIT.refused);
  } finally {
    await db.close();
  }
}
