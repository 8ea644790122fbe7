import { openDatabase, type Database } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/errors";
import { localHome, readLocalStack, stackFileIn } from "@wonrail/kit/localStack";
import { createLog } from "@wonrail/kit/log";
import { operatorOf, wrongDatabase } from "@wonrail/kit/operator";
import { createOperations, keyRules, type Operations } from "../app";
import { type AdminConfig } from "../config";

/** What the commands see of the outside. */
export interface World {
  config: AdminConfig;
  out: (text: string) => void;
  err: (text: string) => void;
}

/** Something that the operator has to put right, in a sentence that says what. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

export async function withAuth<T>(world: World, work: (auth: Operations) => Promise<T>): Promise<T> {
  return withDatabase(world, "auth", (db) => work(createOperations({ db, ...keyRules(world.config) })));
}

/** Opens one service's database for one piece of work. */
export async function withDatabase<T>(
  world: World,
  service: string,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const url = databaseUrl(world.config, service);
  const log = createLog({ service: "admin", level: "silent" });
  const schema = service.replaceAll("-", "_");
  const db = openDatabase({ url, schema, applicationName: "admin", max: 2, log });
  try {
    return await work(db);
  } catch (error) {
    const problem = wrongDatabase(error, url, schema);
    if (problem !== undefined) throw new Refusal(problem);
    if (!(error instanceof DomainError) || error.code !== "SYS_002") throw error;
    const { host } = new URL(url);
    throw new Refusal(
      `The database at ${host} cannot be reached. Start the stack with npm run up, or set DATABASE_URL.`,
    );
  } finally {
    await db.close();
  }
}

/** For the audit trail. */
export function actorOf({ config }: World): string {
  return operatorOf(config);
}

function databaseUrl(config: AdminConfig, service: string): string {
  if (config.DATABASE_URL !== undefined) return config.DATABASE_URL;
  const home = localHome(config.WONRAIL_HOME);
  const url = readLocalStack(home)?.postgres?.urls?.[service];
  if (url !== undefined) return url;
  throw new Refusal(
    `There is no ${service} database: ${stackFileIn(home)} names none. Start the stack with npm run up, or set DATABASE_URL.`,
  );
}
