import { readFileSync } from "node:fs";
import type { SystemUser } from "./postgresBinaries";

/**
 * PostgreSQL refuses to run as root, so it runs as an existing user: creating one would change the
 * machine.
 */
export function postgresUser(): { user: SystemUser; name: string } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  for (const name of ["postgres", "nobody"]) {
    const found = users.find((fields) => fields[0] === name);
    if (found) return { user: { uid: Number(found[2]), gid: Number(found[3]) }, name };
  }
  throw new Error(
    "PostgreSQL cannot run as root, and this machine has neither a user `postgres` nor `nobody`.",
  );
}
