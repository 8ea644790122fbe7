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

/**
 * The method declares whether the statement writes. It matters outside a transaction, when the answer
 * is lost: a read may be asked again (SYS_002), the outcome of a write is unknown (SYS_003).
 */
export interface Queryable {
  /** Reads. */
  query<R>(statement: Sql): Promise<R[]>;
  /** Reads exactly one row. Another number is a programmer's mistake. */
  one<R>(statement: Sql): Promise<R>;
  /** Reads one row or none. */
  maybe<R>(statement: Sql): Promise<R | undefined>;
  /** Writes. Returns the number of affected rows. */
  run(statement: Sql): Promise<number>;
  /** Writes. Returns the rows of its RETURNING clause. */
  write<R>(statement: Sql): Promise<R[]>;
}

/** A connection inside a transaction. Only `tx` makes one, and it is of no use once the transaction is over. */
export interface Tx extends Queryable {
  readonly [txBrand]: true;
  /** Sends the statement without waiting for its answer. Its error fails the transaction. */
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
