import type { Log } from "../log";
import type { Registry } from "../metrics";
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
 * The method declares whether the statement writes. That matters for a lost answer outside of a
 * transaction: a read may be repeated (SYS_002), a write's outcome is unknown (SYS_003).
 */
export interface Queryable {
  /** Reads. */
  query<R>(statement: Sql): Promise<R[]>;
  /** Reads exactly one row. Another number is a programming error. */
  one<R>(statement: Sql): Promise<R>;
  /** Reads one row or none. */
  maybe<R>(statement: Sql): Promise<R | undefined>;
  /** Writes. Returns the number of affected rows. */
  run(statement: Sql): Promise<number>;
  /** Writes. Returns the rows of its RETURNING clause. */
  write<R>(statement: Sql): Promise<R[]>;
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
