import { sql, type Database } from "../db";
import { listOf, pendingMigrations, readMigrations, type AppliedMigration } from "./files";

/** For a service's start: refuses a schema older than its release. A newer schema is fine. */
export async function assertMigrated(db: Database, dir?: string): Promise<void> {
  const pending = pendingMigrations(readMigrations(dir), await readApplied(db));
  if (pending.length > 0) {
    throw new Error(
      `schema ${db.schema} is behind this release: run its migrations first (${listOf(pending)})`,
    );
  }
}

async function readApplied(db: Database): Promise<AppliedMigration[]> {
  const { present } = await db.one<{ present: boolean }>(sql`
    select to_regclass('schema_migrations') is not null as present`);
  return present
    ? db.query<AppliedMigration>(sql`select set, number, name, checksum from schema_migrations`)
    : [];
}
