import { setTimeout as sleep } from "node:timers/promises";
import { Client, DatabaseError } from "pg";
import { sqlStateOf } from "../db/errors";
import { CONNECT_TIMEOUT_MS } from "../db/untilReachable";
import type { Log } from "../log";
import { listOf, pendingMigrations, readMigrations, statementsOf } from "./files";
import type { AppliedMigration, Migration } from "./files";

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
  /** The number of migrations that were there already. */
  known: number;
}

/** Any number, the same for every migrator; the second key is the schema's. */
const TURN_LOCK = 0x77_6f_6e;
const TURN_TIMEOUT_MS = 600_000;
const TURN_POLL_MS = 100;
/** A statement that waits for a table's lock makes everyone behind it wait: give up soon and try again. */
const LOCK_TIMEOUT_MS = 2_000;
const LOCK_ATTEMPTS = 30;
const LOCK_NOT_AVAILABLE = "55P03";

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
    await waitForTurn(client, schema);
    const applied = await readApplied(client);
    const report: MigrationReport = { applied: [], known: applied.length };
    for (const migration of pendingMigrations(files, applied)) {
      const startedMs = Date.now();
      await applyWithRetry(client, migration, log);
      const { set, number, name } = migration;
      const durationMs = Date.now() - startedMs;
      report.applied.push({ set, number, name, durationMs });
      log.info({ schema, set, number, name, durationMs }, "migration applied");
    }
    return report;
  } finally {
    await client.end();
  }
}

/** Polls for the lock: a statement that waits for it holds a snapshot, for which a concurrent index build would wait. */
async function waitForTurn(client: Client, schema: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < TURN_TIMEOUT_MS; waitedMs += TURN_POLL_MS) {
    const { rows } = await client.query<{ mine: boolean }>(
      "select pg_try_advisory_lock($1, hashtext($2)) as mine",
      [TURN_LOCK, schema],
    );
    if (rows[0]!.mine) return;
    await sleep(TURN_POLL_MS);
  }
  throw new Error(`another migrator has held schema ${schema} for ${TURN_TIMEOUT_MS / 60_000} minutes`);
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

/** Between two attempts, the others get their locks. */
async function applyWithRetry(client: Client, migration: Migration, log: Log): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply(client, migration);
    } catch (error) {
      if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE || attempt >= LOCK_ATTEMPTS)
        throw describe(error, migration);
      log.warn({ migration: migration.name, attempt }, "the migration waits for a lock of another session");
      await sleep(Math.random() * 1_000);
    }
  }
}

async function apply(client: Client, migration: Migration): Promise<void> {
  if (!migration.transactional) await runStatements(client, statementsOf(migration.text));
  await client.query("begin");
  try {
    if (migration.transactional) await client.query(migration.text);
    const { set, number, name, checksum } = migration;
    await client.query(
      "insert into schema_migrations (set, number, name, checksum) values ($1, $2, $3, $4)",
      [set, number, name, checksum],
    );
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

/**
 * Runs a file that cannot be one transaction. After a failure it starts again at the first statement, so
 * each statement must bear being repeated. A concurrent index build blocks nobody and may wait for locks.
 */
async function runStatements(client: Client, statements: string[]): Promise<void> {
  for (const statement of statements) {
    const isPatient = /\bindex\s+concurrently\b/i.test(statement);
    await client.query(`set lock_timeout = ${isPatient ? 0 : LOCK_TIMEOUT_MS}`);
    await client.query(statement);
  }
  await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
}

function describe(error: unknown, migration: Migration): Error {
  const position = error instanceof DatabaseError ? Number(error.position ?? 0) : 0;
  const line = position > 0 ? ` line ${migration.text.slice(0, position).split("\n").length}` : "";
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(`migration ${listOf([migration])}${line}: ${reason}`, { cause: error });
}
