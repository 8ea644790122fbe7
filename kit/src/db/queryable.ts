import type { QueryResult } from "pg";
import { assert } from "../contract/errors";
import { textOf, type Sql } from "./sql";

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

/** Raw rows: only the statement's author knows their type. */
export type Answer = Omit<QueryResult, "rows"> & { rows: unknown[] };

/** Whether the caller declares that a statement writes. */
export type Access = "read" | "write";

/** The methods of a Queryable over one function that executes a statement. */
export function queryable(run: (statement: Sql, access: Access) => Promise<Answer>): Queryable {
  return {
    query: async <R>(statement: Sql) => (await run(statement, "read")).rows as R[],
    one: async <R>(statement: Sql) => {
      const { rows } = await run(statement, "read");
      assert(rows.length === 1, `expected one row, got ${rows.length}: ${textOf(statement)}`);
      return rows[0] as R;
    },
    maybe: async <R>(statement: Sql) => {
      const { rows } = await run(statement, "read");
      assert(rows.length <= 1, `expected at most one row, got ${rows.length}: ${textOf(statement)}`);
      return rows[0] as R | undefined;
    },
    run: async (statement) => (await run(statement, "write")).rowCount ?? 0,
    write: async <R>(statement: Sql) => (await run(statement, "write")).rows as R[],
  };
}
