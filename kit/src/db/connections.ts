import { Pool, type Client, type ClientBase, type ClientConfig, type PoolClient } from "pg";
import type { Log } from "../log";
import { destroyConnection, isStandby, SocketClient } from "./client";
import { unavailable } from "./errors";
import { columnTypes } from "./parsers";
import { queryTimer, watchPool } from "./poolMetrics";
import { createSession, type Session } from "./session";
import type { DatabaseOptions } from "./types";
import { createWatchdog } from "./watchdog";

const DEFAULT_MAX = 10;
const DEFAULT_STATEMENT_TIMEOUT_MS = 10_000;
const DEFAULT_LOCK_TIMEOUT_MS = 2_000;
const DEFAULT_IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
const DEFAULT_CONNECT_TIMEOUT_MS = 3_000;
const DEFAULT_ANSWER_GRACE_MS = 5_000;
const IDLE_TIMEOUT_MS = 60_000;
/**
 * Connections are renewed, so that they spread over a new primary and release the server's caches.
 */
const MAX_LIFETIME_SECONDS = 1_800;
/** A vanished server does not answer a close either. */
const CLOSE_TIMEOUT_MS = 1_000;
/** Lets the server notice within half a minute that this machine is gone, and release its locks. */
const SERVER_KEEPALIVE = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3";
/**
 * Frequently read pages are in memory, so a random page costs little more than the next one.
 * Otherwise queues' indexes are read as bitmaps, including dead rows.
 */
const PLANNER = "-c random_page_cost=1.1";
const LOG_UNREACHABLE_EVERY_MS = 5_000;

/** A database's two kinds of connection: pooled for a moment, and dedicated to one owner. */
export interface Connections {
  lend: () => Promise<Session>;
  open: () => Promise<OwnConnection>;
  /** Serves all waiting callers, and waits for lent connections. */
  end: () => Promise<void>;
}

export interface OwnConnection {
  client: Client;
  session: Session;
  close: () => Promise<void>;
}

export function openConnections(options: DatabaseOptions): Connections {
  const { log, registry } = options;
  const config = connectionConfig(options);
  const pool = openPool(config, options.max ?? DEFAULT_MAX, log);
  const watchdog = createWatchdog({
    statementTimeoutMs: options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS,
    graceMs: options.answerGraceMs ?? DEFAULT_ANSWER_GRACE_MS,
    end: destroyConnection,
  });
  const observe = queryTimer(registry);
  const unwatch = registry ? watchPool(registry, options.schema, pool) : () => undefined;
  const warnUnreachable = throttledWarning(log);
  const waiting = new Set<Promise<PoolClient>>();
  // Closes all idle connections that an outage cut, before one of them makes a caller wait.
  const connect = async (): Promise<PoolClient> => {
    for (;;) {
      const client = await pool.connect();
      const isOnStandby = isStandby(client);
      if (!isOnStandby && !watchdog.isSuspect(client)) return client;
      destroyConnection(client);
      client.release(true);
      if (isOnStandby) throw standbyRefused();
    }
  };
  const sessionOver = (client: ClientBase, release: (error?: Error) => void): Session =>
    createSession({ client, release, watchdog, observe });

  return {
    async lend() {
      const connecting = connect();
      waiting.add(connecting);
      try {
        const client = await connecting;
        return sessionOver(client, (error) => client.release(error));
      } catch (error) {
        warnUnreachable(error);
        throw unavailable(error);
      } finally {
        waiting.delete(connecting);
      }
    },
    async open() {
      const client = new SocketClient(config);
      client.on("error", () => undefined);
      const close = async (): Promise<void> => {
        const late = setTimeout(() => destroyConnection(client), CLOSE_TIMEOUT_MS);
        await client.end().catch(() => undefined);
        clearTimeout(late);
      };
      try {
        await client.connect();
        if (isStandby(client)) throw standbyRefused();
      } catch (error) {
        await close();
        throw unavailable(error);
      }
      return { client, session: sessionOver(client, () => undefined), close };
    },
    async end() {
      // An ending pool would leave those who still wait for a connection without an answer.
      await Promise.allSettled(waiting);
      await pool.end();
      unwatch();
      watchdog.stop();
    },
  };
}

/**
 * After a failover, an address may lead to the demoted server or to a stand-by. Reads there would be
 * old, so the caller gets SYS_002 and asks again. isConnectionLoss knows the first words.
 */
function standbyRefused(): Error {
  return new Error("Connection terminated: the server is a read-only stand-by");
}

function openPool(config: ClientConfig, max: number, log: Log): Pool {
  const pool = new Pool({
    ...config,
    Client: SocketClient,
    max,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
  });
  // The pool reports a lost idle connection, the client a checked-out one. Unhandled, either ends
  // the process.
  pool.on("error", (error) => log.warn({ err: error }, "an idle database connection was lost"));
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

function connectionConfig(options: DatabaseOptions): ClientConfig {
  return {
    connectionString: options.url,
    application_name: options.applicationName,
    options: `-c search_path=${options.schema} ${SERVER_KEEPALIVE} ${PLANNER}`,
    connectionTimeoutMillis: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    statement_timeout: options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS,
    lock_timeout: options.lockTimeoutMs ?? DEFAULT_LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout:
      options.idleInTransactionTimeoutMs ?? DEFAULT_IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Statements are sent at once and executed in order: independent ones cost one round trip.
    pipeline: true,
    types: columnTypes,
  };
}

/**
 * An absent database fails every request. The log gets its cause now and then, because callers do
 * not see it.
 */
function throttledWarning(log: Log): (error: unknown) => void {
  let nextMs = 0;
  return (error) => {
    const nowMs = performance.now();
    if (nowMs < nextMs) return;
    nextMs = nowMs + LOG_UNREACHABLE_EVERY_MS;
    log.warn({ err: error }, "the database gave no connection");
  };
}
