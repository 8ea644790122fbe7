import { userInfo } from "node:os";
import { sqlStateOf } from "./db/errors";

/** Who gives a command, for audit trails. In a container a process may run as a number that no name belongs to. */
export function operatorOf({ USER: user }: { USER?: string | undefined }): string {
  return `operator:${user ?? nameOfUser()}`;
}

function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.()}`;
  }
}

/** What to put right when a statement found another database than a service's own; undefined when that is not what the error says. */
export function wrongDatabase(error: unknown, url: string, schema: string): string | undefined {
  if (!NOT_OURS.has(sqlStateOf(error) ?? "")) return undefined;
  const { host, username } = new URL(url);
  const said = (error as Error).message;
  return `The database at ${host} shows ${username} no schema ${schema} of this service (${said}). Set DATABASE_URL to the one for ${schema}.`;
}

/** No such table, schema, or right to it: a schema that a role may not use is passed over as if it were absent. */
const NOT_OURS = new Set(["42P01", "3F000", "42501"]);
