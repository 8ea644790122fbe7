import type { Log } from "../log";
import type { Registry } from "../metrics";
import type { Session, afterCommitSymbol, connectSymbol } from "./session";
import type { Sql } from "./sql";

declare const txBrand: unique symbol;

export interface DatabaseOptions {
  url: string;
  /** The only schema that statements see without naming one. */
  schema: string;
  applicationName: string;
  max?: number;
  statementTimeoutMs?: number;
  lockTimeoutMs?: number;
  idleInTransactionTimeoutMs?: number;
  /** How long a caller waits for a connection, a free one or a new one, before it is refused with SYS_002. */
  connectTimeoutMs?: number;
  /** How much later than the statement timeout an answer may come before its connection is given up. */
  answerGraceMs?: number;
  log: Log;
  registry?: Registry;
}

export interface Queryable {
  query<R>(statement: Sql): Promise<R[]>;
  /** Exactly one row; anything else is a programmer mistake. */
  one<R>(statement: Sql): Promise<R>;
  maybe<R>(statement: Sql): Promise<R | undefined>;
  /** The number of rows that were affected. */
  run(statement: Sql): Promise<number>;
}

/** A connection inside a transaction. Only `tx` makes one, and it is of no use once the transaction is over. */
export interface Tx extends Queryable {
  readonly [txBrand]: true;
  /** Leaves with what is asked for next, or with the commit. What it fails with fails the transaction. */
  push(statement: Sql): void;
  readonly [afterCommitSymbol]: (run: (db: Database) => void) => void;
}

export interface Database extends Queryable {
  readonly schema: string;
  /**
   * Calls back for each NOTIFY on a connection of its own, which is opened again whenever it is lost. What was notified meanwhile is
   * gone, so after each reconnection the callback gets an empty payload: look for yourself.
   */
  listen(channel: string, onNotify: (payload: string) => void): Promise<Listener>;
  /** Lends a connection outside the pool, closed afterwards: for session locks and long work that must not starve the requests. */
  dedicated<T>(work: (connection: Queryable) => Promise<T>): Promise<T>;
  ping(): Promise<void>;
  /** Waits for the work in flight. */
  close(): Promise<void>;
  readonly [connectSymbol]: () => Promise<Session>;
}

export interface Listener {
  close(): Promise<void>;
}
