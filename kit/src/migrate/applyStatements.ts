import type { Client } from "pg";
import { statementsOf, type Migration } from "./files";
import { inTransaction } from "./inTransaction";
import { readDone, writeDone } from "./progress";

// A file that cannot be one transaction. How far it has come is written down after each statement, so that neither a lock that others hold nor a
// process that is killed makes it start again: an index of a big table takes longer to build than most processes are given. Each statement has to mean the
// same in another session, and one that runs alone has to bear being run again.

/** What Postgres refuses inside a transaction, or what ends transactions itself. */
const ALONE = /\bconcurrently\b|^(vacuum|call|do)\b/i;
const BUILD = /^create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\S+)\s+on\b/i;
const DROP = /^drop\s+index\s+concurrently\s+if\s+exists\s+(\S+)$/i;
/** They wait for those who write, and nobody who reads or writes waits for them. */
const BLOCKS_NOBODY = /^(create\s+(unique\s+)?|drop\s+)index\s+concurrently\b/i;

export async function applyStatements(client: Client, migration: Migration): Promise<void> {
  const statements = statementsOf(migration.text).map(withoutHeading);
  for (let index = await firstToDo(client, migration, statements); index < statements.length; index += 1) {
    await applyStatement(client, statements[index]!, () => writeDone(client, migration, index + 1));
  }
}

/**
 * After what is done. A build that failed leaves an index that is of no use and in the way: it is dropped once more. One that ended after its migrator
 * was gone, as the server goes on with it, is as good as any; it is known by its name, since what had that name before was dropped.
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

/** To give way would be to build it all again. What bounds it is the process's own deadline. */
async function withoutTimeouts(client: Client, work: () => Promise<unknown>): Promise<void> {
  await client.query("set lock_timeout = 0; set statement_timeout = 0");
  try {
    await work();
  } finally {
    // What the connection began with. When that is lost, its error is the one to tell of.
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

/** Without the comments above it. */
function withoutHeading(statement: string): string {
  return statement.replace(/^(\s*--[^\n]*\n)+\s*/, "");
}
