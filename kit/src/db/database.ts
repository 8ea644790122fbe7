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

/** One statement on its own is its own transaction: when its answer is lost, a read did nothing, anything else may have. */
async function runAlone(connect: () => Promise<Session>, statement: Sql): Promise<Answer> {
  const session = await connect();
  try {
    const result = await session.execute(statement);
    session.release();
    return result;
  } catch (error) {
    session.release(isConnectionLoss(error) ? (error as Error) : undefined);
    if (mayHaveHappened(error) && !/^\s*select\b/i.test(textOf(statement)))
      throw new CommitUnknownError(error);
    throw nothingDone(error);
  }
}
