import { Client, DatabaseError } from "pg";
import { givingWay, LOCK_TIMEOUT_MS, waitForTurn } from "../db/giveWay";
import { CONNECT_TIMEOUT_MS } from "../db/untilReachable";
import type { Log } from "../log";
import { applyStatements } from "./applyStatements";
import { readMigrations, type Migration } from "./files";
import { inTransaction } from "./inTransaction";
import { forgetProgress, readUnfinished } from "./progress";
import { pendingMigrations, refuseChangedHalfway, type AppliedMigration } from "./state";

export interface MigrateOptions {
  /**
   * The schema's owner: it owns new objects, and default privileges grant the service's role its
   * rights.
   */
  url: string;
  schema: string;
  /** The service's migrations; without it only the kit's tables are created. */
  dir?: string;
  log: Log;
}

export interface MigrationReport {
  applied: { set: string; number: number; name: string; durationMs: number }[];
  /** How many were there already. */
  known: number;
}

/** Any number, the same for every migrator; the second key is the schema's. */
const TURN_LOCK = 0x77_6f_6e;

export async function migrate({ url, schema, dir, log }: MigrateOptions): Promise<MigrationReport> {
  const files = readMigrations(dir);
  const client = new Client({
    connectionString: url,
    application_name: `migrate ${schema}`,
    options: `-c search_path=${schema}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    keepAlive: true,
  });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await waitForTurn(() => tryLock(client, schema), schema);
    const applied = await readApplied(client);
    const report: MigrationReport = { applied: [], known: applied.length };
    const pending = pendingMigrations(files, applied);
    refuseChangedHalfway(pending, await readUnfinished(client));
    for (const migration of pending) {
      const durationMs = await applyWithRetry(client, migration, log);
      const { set, number, name } = migration;
      report.applied.push({ set, number, name, durationMs });
      log.info({ schema, set, number, name, durationMs }, "migration applied");
    }
    return report;
  } finally {
    await client.end();
  }
}

async function tryLock(client: Client, schema: string): Promise<boolean> {
  const { rows } = await client.query<{ mine: boolean }>(
    "select pg_try_advisory_lock($1, hashtext($2)) as mine",
    [TURN_LOCK, schema],
  );
  return rows[0]!.mine;
}

async function readApplied(client: Client): Promise<AppliedMigration[]> {
  await client.query(`
    create table if not exists schema_migrations (
      set text not null,
      number integer not null,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now(),
      primary key (set, number)
    )`);
  const { rows } = await client.query<AppliedMigration>(
    "select set, number, name, checksum from schema_migrations",
  );
  return rows;
}

async function applyWithRetry(client: Client, migration: Migration, log: Log): Promise<number> {
  const startedMs = Date.now();
  try {
    await givingWay(
      () => apply(client, migration),
      (attempt) =>
        log.warn({ migration: migration.name, attempt }, "the migration waits for a lock that others hold"),
    );
  } catch (error) {
    throw describe(error, migration);
  }
  return Date.now() - startedMs;
}

async function apply(client: Client, migration: Migration): Promise<void> {
  if (!migration.transactional) await applyStatements(client, migration);
  await inTransaction(client, async () => {
    if (migration.transactional) await client.query(migration.text);
    await record(client, migration);
    await forgetProgress(client, migration);
  });
}

async function record(client: Client, { set, number, name, checksum }: Migration): Promise<void> {
  await client.query("insert into schema_migrations (set, number, name, checksum) values ($1, $2, $3, $4)", [
    set,
    number,
    name,
    checksum,
  ]);
}

function describe(error: unknown, { set, number, name, text }: Migration): Error {
  const position = error instanceof DatabaseError ? Number(error.position ?? 0) : 0;
  const line = position > 0 ? ` line ${text.slice(0, position).split("\n").length}` : "";
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(`migration ${set} ${String(number).padStart(4, "0")}_${name}${line}: ${reason}`, {
    cause: error,
  });
}
