export { CommitUnknownError, isTransient, isUniqueViolation } from "./errors";
export { openDatabase } from "./database";
export { named, rawSql, sql, type Sql } from "./sql";
export { afterCommit, tx, type TxOptions } from "./tx";
export { untilReachable } from "./untilReachable";
export type { Queryable } from "./queryable";
export type { Database, DatabaseOptions, Listener, Tx } from "./types";
