import { Client, Pool, type ClientConfig, type PoolClient } from "pg";
import type { Log } from "../log";
import { CommitUnknownError, isConnectionLoss, mayHaveHappened, nothingDone, unavailable } from "./errors";
import { startListener } from "./listen";
import { columnTypes } from "./parsers";
import { queryTimer, watchPool } from "./poolMetrics";
import { connectSymbol, createSession, queryable, type Answer, type Session } from "./session";
import { sql, textOf, type Sql } from "./sql";
import type { Database, DatabaseOptions, Listener } from "./types";
import { createWatchdog } from "./watchdog";

const DEFAULT_MAX = 10;
const DEFAULT_STATEMENT_TIMEOUT_MS = 10_000;
const DEFAULT_LOCK_TIMEOUT_MS = 2_000;
const DEFAULT_IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
const DEFAULT_CONNECT_TIMEOUT_MS = 3_000;
const DEFAULT_ANSWER_GRACE_MS = 5_000;
const IDLE_TIMEOUT_MS = 60_000;
/** Connections are renewed, so that they spread over a new primary and give back what the server's caches grew to. */
const MAX_LIFETIME_SECONDS = 1_800;
/** Lets the server notice within half a minute that our machine is gone, and give up the locks that we held. */
const SERVER_KEEPALIVE = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3";
const LOG_UNREACHABLE_EVERY_MS = 5_000;

export function openDatabase(options: DatabaseOptions): Database {
  const { schema, log, registry } = options;
  const connection = connectionConfig(options);
  const pool = new Pool({
    ...connection,
    max: options.max ?? DEFAULT_MAX,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
  });
  // Two kinds of lost connection: an idle one is reported by the pool, a checked-out one by the client. Unheard, either ends the process.
  pool.on("error", (error) => log.warn({ err: error }, "an idle database connection was lost"));
  pool.on("connect", (client) => client.on("error", () => undefined));

  const watchdog = createWatchdog(
    (options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS) +
      (options.answerGraceMs ?? DEFAULT_ANSWER_GRACE_MS),
  );
  const observe = queryTimer(registry);
  const unwatch = registry ? watchPool(registry, schema, pool) : () => undefined;
  const warnUnreachable = throttledWarning(log);
  const listeners = new Set<Listener>();

  const waiting = new Set<Promise<PoolClient>>();
  const connect = async (): Promise<Session> => {
    const connecting = pool.connect();
    waiting.add(connecting);
    try {
      const client = await connecting;
      return createSession({ client, release: (error) => client.release(error), watchdog, observe });
    } catch (error) {
      warnUnreachable(error);
      throw unavailable(error);
    } finally {
      waiting.delete(connecting);
    }
  };
  const openClient = async (): Promise<Client> => {
    const client = new Client(connection);
    client.on("error", () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      throw unavailable(error);
    }
  };

  const db: Database = {
    schema,
    ...queryable((statement) => runAlone(connect, statement)),
    async listen(channel, onNotify) {
      const listener = await startListener({ open: openClient, channel, onNotify, log });
      listeners.add(listener);
      return {
        async close() {
          listeners.delete(listener);
          await listener.close();
        },
      };
    },
    async dedicated(work) {
      const client = await openClient();
      try {
        return await work(createSession({ client, release: () => undefined, watchdog, observe }));
      } finally {
        await client.end().catch(() => undefined);
      }
    },
    async ping() {
      await db.query(sql`select 1`);
    },
    async close() {
      await Promise.all([...listeners].map((listener) => listener.close()));
      // An ending pool serves nobody who still waits for a connection.
      await Promise.allSettled(waiting);
      await pool.end();
      unwatch();
      watchdog.stop();
    },
    [connectSymbol]: connect,
  };
  return db;
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

function connectionConfig(options: DatabaseOptions): ClientConfig {
  return {
    connectionString: options.url,
    application_name: options.applicationName,
    options: `-c search_path=${options.schema} ${SERVER_KEEPALIVE}`,
    connectionTimeoutMillis: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    statement_timeout: options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS,
    lock_timeout: options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout:
      options.idleInTransactionTimeoutMs ?? DEFAULT_IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: columnTypes,
  };
}

/** A database that is away fails every request; the log needs it said now and then, with the cause that callers do not see. */
function throttledWarning(log: Log): (error: unknown) => void {
  let nextMs = 0;
  return (error) => {
    if (Date.now() < nextMs) return;
    nextMs = Date.now() + LOG_UNREACHABLE_EVERY_MS;
    log.warn({ err: error }, "the database gave no connection");
  };
}
