import { assert } from "../contract/errors";
import { openConnections } from "./connections";
import { CommitUnknownError, isConnectionLoss, mayBeExecuted, asRolledBack } from "./errors";
import { startListener } from "./listen";
import { type Access, queryable, type Answer } from "./queryable";
import { connectSymbol, type Session } from "./session";
import { sql, textOf, type Sql } from "./sql";
import type { Database, DatabaseOptions, Listener } from "./types";

export function openDatabase(options: DatabaseOptions): Database {
  const { schema, log } = options;
  const connections = openConnections(options);
  const listeners = new Set<Listener>();
  const statements = queryable((statement, access) => runAlone(connections.lend, statement, access));

  return {
    schema,
    ...statements,
    async listen(channel, onNotify) {
      const listener = await startListener({ open: connections.open, channel, onNotify, log });
      listeners.add(listener);
      return {
        async close() {
          listeners.delete(listener);
          await listener.close();
        },
      };
    },
    async dedicated(work) {
      const connection = await connections.open();
      try {
        return await work(connection.session);
      } finally {
        await connection.close();
      }
    },
    async ping() {
      await statements.query(sql`select 1`);
    },
    async close() {
      await Promise.all([...listeners].map((listener) => listener.close()));
      await connections.end();
    },
    [connectSymbol]: connections.lend,
  };
}

/** The commands of PostgreSQL that change rows. A `with` clause can still hide one in a SELECT. */
const WRITING_COMMANDS = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

/**
 * A single statement is its own transaction. When its answer is lost, a read changed nothing, and a
 * write's outcome is unknown. A warning means that the server stopped waiting for the stand-by: the
 * write is done here, but a failover may lose it.
 */
async function runAlone(connect: () => Promise<Session>, statement: Sql, access: Access): Promise<Answer> {
  const session = await connect();
  const warningsBefore = session.warnings;
  let result: Answer;
  try {
    result = await session.execute(statement);
  } catch (error) {
    session.release(isConnectionLoss(error) ? (error as Error) : undefined);
    if (mayBeExecuted(error) && access === "write") throw new CommitUnknownError(error);
    throw asRolledBack(error);
  }
  session.release();
  assert(
    access === "write" || !WRITING_COMMANDS.has(result.command),
    `declare this statement with run or write: ${textOf(statement)}`,
  );
  if (session.warnings !== warningsBefore && access === "write")
    throw new CommitUnknownError(new Error("the statement was answered with a warning"));
  return result;
}
