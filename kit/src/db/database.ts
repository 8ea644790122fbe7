import { openConnections } from "./connections";
import { CommitUnknownError, isConnectionLoss, mayHaveHappened, nothingDone } from "./errors";
import { startListener } from "./listen";
import { connectSymbol, queryable, type Answer, type Session } from "./session";
import { sql, textOf, type Sql } from "./sql";
import type { Database, DatabaseOptions, Listener } from "./types";

export function openDatabase(options: DatabaseOptions): Database {
  const { schema, log } = options;
  const connections = openConnections(options);
  const listeners = new Set<Listener>();
  const statements = queryable((statement) => runAlone(connections.lend, statement));

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

/**
 * One statement on its own is its own transaction: when its answer is lost, a read did nothing, anything else may have. A warning is the server's way to
 * say that it gave up waiting for the standby: done here, but perhaps not after a failover.
 */
async function runAlone(connect: () => Promise<Session>, statement: Sql): Promise<Answer> {
  const session = await connect();
  const warningsBefore = session.warnings;
  const onlyReads = /^\s*select\b/i.test(textOf(statement));
  let result: Answer;
  try {
    result = await session.execute(statement);
  } catch (error) {
    session.release(isConnectionLoss(error) ? (error as Error) : undefined);
    if (mayHaveHappened(error) && !onlyReads) throw new CommitUnknownError(error);
    throw nothingDone(error);
  }
  session.release();
  if (session.warnings !== warningsBefore && !onlyReads)
    throw new CommitUnknownError(new Error("the statement was answered with a warning"));
  return result;
}
