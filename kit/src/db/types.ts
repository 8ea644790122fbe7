import type { Log } from "../log";
import type { Registry } from "../metrics";
import type { Queryable } from "./queryable";
import type { Session, afterCommitSymbol, connectSymbol } from "./session";
import type { Sql } from "./sql";

declare const txBrand: unique symbol;

export interface DatabaseOptions {
  url: string;
  /** The only schema on the statements' search path. */
  schema: string;
  applicationName: string;
  max?: number;
  statementTimeoutMs?: number;
  lockTimeoutMs?: number;
  idleInTransactionTimeoutMs?: number;
  /** How long a caller waits for a connection before SYS_002. */
  connectTimeoutMs?: number;
  /** Time after the statement timeout until an unanswered connection is closed. */
  answerGraceMs?: number;
  log: Log;
  registry?: Registry;
}

/**
 * A connection inside a transaction. Only `tx` creates one, and it is useless after the
 * transaction.
 */
export interface Tx extends Queryable {
  readonly [txBrand]: true;
  /** Sent with the next query or the commit. Its failure fails the transaction. */
  push(statement: Sql): void;
  readonly [afterCommitSymbol]: (run: (db: Database) => void) => void;
}

export interface Database extends Queryable {
  readonly schema: string;
  /**
   * Calls back for each NOTIFY on a separate connection, which is reopened after a loss.
   * Notifications in between are lost, so each reconnection calls back with an empty payload: read
   * the state then.
   */
  listen(channel: string, onNotify: (payload: string) => void): Promise<Listener>;
  /**
   * Lends a connection outside of the pool, closed afterwards: for session locks and long work that
   * must not starve requests.
   */
  dedicated<T>(work: (connection: Queryable) => Promise<T>): Promise<T>;
  ping(): Promise<void>;
  /** Waits for the work in flight. */
  close(): Promise<void>;
  readonly [connectSymbol]: () => Promise<Session>;
}

export interface Listener {
  close(): Promise<void>;
}
