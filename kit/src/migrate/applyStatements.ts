import type { Client } from "pg";
import { statementsOf, type Migration } from "./files";
import { inTransaction } from "./inTransaction";
import { readDone, writeDone } from "./progress";

// Applies a file that cannot be one transaction. Progress is stored after each
// statement, so that neither a lock nor a kill restarts it: an index of a big table takes longer
// than most processes live. Each statement must be independent of its session, and one that runs
// alone must be repeatable.

/** Statements that Postgres refuses inside a transaction, or that end transactions themselves. */
const ALONE = /\bconcurrently\b|^(vacuum|call|do)\b/i;
const BUILD = /^create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\S+)\s+on\b/i;
const DROP = /^drop\s+index\s+concurrently\s+if\s+exists\s+(\S+)$/i;
/** These wait for writers, and block neither readers nor writers. */
const BLOCKS_NOBODY = /^(create\s+(unique\s+)?|drop\s+)index\s+concurrently\b/i;

export async function applyStatements(client: Client, migration: Migration): Promise<void> {
  const statements = statementsOf(migration.text).map(withoutHeading);
  for (let index = await firstToDo(client, migration, statements); index < statements.length; index += 1) {
    await applyStatement(client, statements[index]!, () => writeDone(client, migration, index + 1));
  }
}

/**
 * The first statement to execute. A failed build leaves a useless index, so its drop is repeated. A
 * build that ended after its migrator's death is valid; it is recognised by name, because the
 * earlier drop removed any other.
 */
async function firstToDo(client: Client, migration: Migration, statements: string[]): Promise<number> {
  const done = await readDone(client, migration);
  const built = BUILD.exec(statements[done] ?? "")?.[1];
  const dropped = DROP.exec(statements[done - 1] ?? "")?.[1];
  if (built === undefined || dropped === undefined) return done;
  return built === dropped && (await isValid(client, built)) ? done + 1 : done - 1;
}

async function applyStatement(client: Client, statement: string, finish: () => Promise<void>): Promise<void> {
  if (!ALONE.test(statement)) {
    await inTransaction(client, async () => {
      await client.query(statement);
      await finish();
    });
    return;
  }
  if (BLOCKS_NOBODY.test(statement)) await withoutTimeouts(client, () => client.query(statement));
  else await client.query(statement);
  await finish();
}

/** Giving up would restart the build. The process's own deadline limits it. */
async function withoutTimeouts(client: Client, work: () => Promise<unknown>): Promise<void> {
  await client.query("set lock_timeout = 0; set statement_timeout = 0");
  try {
    await work();
  } finally {
    // Restores the connection's settings. If that fails, the work's error matters more.
    await client.query("reset lock_timeout; reset statement_timeout").catch(() => undefined);
  }
}

async function isValid(client: Client, index: string): Promise<boolean> {
  const { rows } = await client.query<{ valid: boolean }>(
    "select indisvalid as valid from pg_index where indexrelid = to_regclass($1)",
    [index],
  );
  return rows[0]?.valid === true;
}

/** Removes leading comments. */
function withoutHeading(statement: string): string {
  return statement.replace(/^(\s*--[^\n]*\n)+\s*/, "");
}
