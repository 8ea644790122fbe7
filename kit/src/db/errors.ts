import { types } from "node:util";
import { DatabaseError } from "pg";
import { DomainError } from "../contract/errors";

/**
 * A COMMIT, or a single writing statement, was sent without an answer. So it may have been executed.
 * The work must not be repeated without a check. The API's caller gets SYS_003 and repeats the request
 * with the same idempotency key.
 */
export class CommitUnknownError extends DomainError {
  constructor(cause: unknown) {
    super("SYS_003", null, { cause });
  }
}

export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!(error instanceof DatabaseError) || error.code !== "23505") return false;
  return constraint === undefined || error.constraint === constraint;
}

/** True when the same work may succeed later: the database was busy, locked or unreachable. */
export function isTransient(error: unknown): boolean {
  if (error instanceof DomainError) return error.retryable;
  return isRetryable(error) || isConnectionLoss(error) || BUSY.test(sqlStateOf(error) ?? "");
}

/** True when Postgres rolled back because of other transactions. A retry may succeed at once. */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE.has(sqlStateOf(error) ?? "");
}

/**
 * True when the connection must not be used again. The socket or the driver reported its end, the
 * server stops, or the server has changed (isStale).
 */
export function isConnectionLoss(error: unknown): boolean {
  if (error instanceof DatabaseError) return closesConnection(error) || isStale(error);
  if (error instanceof DomainError || !types.isNativeError(error)) return false;
  return (
    SOCKET_CODES.has((error as NodeJS.ErrnoException).code ?? "") || CONNECTION_ENDED.test(error.message)
  );
}

/**
 * True when a later attempt may connect: the database is down or has no connection left. False when
 * it refuses the login or has no database of that name.
 */
export function isUnreachable(error: unknown): boolean {
  const cause = error instanceof DomainError ? error.cause : error;
  return isConnectionLoss(cause) && !LOGIN_REFUSED.test(sqlStateOf(cause) ?? "");
}

/**
 * True when a statement may have been sent and its answer was lost. False when the server answered
 * with an ERROR, which proves that nothing was executed.
 */
export function mayBeExecuted(error: unknown): boolean {
  if (error instanceof DatabaseError && error.severity === "ERROR") return false;
  return isConnectionLoss(error) && !NEVER_SENT.test((error as Error).message);
}

/**
 * Returns the error for the caller after a rollback: REQ_001 for text that Postgres cannot store,
 * SYS_002 when a retry helps, and otherwise the error itself.
 */
export function asRolledBack(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  if (UNSTORABLE.has(sqlStateOf(error) ?? "")) return unstorable(error);
  return isTransient(error) ? unavailable(error) : error;
}

/** Names the whole request, because Postgres does not say which text it refused. */
function unstorable(cause: unknown): DomainError {
  const fields = [{ path: "request", message: "holds a character that cannot be stored, such as NUL" }];
  return new DomainError("REQ_001", { fields }, { cause });
}

export function unavailable(cause: unknown): DomainError {
  return new DomainError("SYS_002", null, { cause });
}

export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

/** Serialization failure, deadlock, lock not available. */
const RETRYABLE = new Set(["40001", "40P01", "55P03"]);
/**
 * 57014: statement timeout. Class 53: no disk, memory, connections or other resources left. Class 58:
 * failure of the operating system.
 */
const BUSY = /^(57014$|53|58)/;
/** A character that the encoding does not have, or one that is valid in JSON but not in `text`. */
const UNSTORABLE = new Set(["22021", "22P05"]);
/** Shutdown, crash, start-up, dropped database, idle for too long. */
const CONNECTION_CLOSED_BY_SERVER = new Set(["57P01", "57P02", "57P03", "57P04", "57P05", "25P03"]);
const SOCKET_CODES = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "ENETRESET",
  "EPROTO",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ERR_STREAM_DESTROYED",
]);
/** Classes 28 (wrong user or password) and 3D (no such database). */
const LOGIN_REFUSED = /^(28|3D)/;
/** The driver's message for a connection to which it no longer writes. */
const NEVER_SENT = /not queryable/;
/** The driver's messages about a connection that has ended or could not be opened in time. */
const CONNECTION_ENDED =
  /^Connection terminated|not queryable|^timeout (exceeded|expired)|socket has been ended|^This socket/;

/** Class 08: connection exception. */
function closesConnection({ severity, code = "" }: DatabaseError): boolean {
  const isFatal = severity === "FATAL" || severity === "PANIC";
  return isFatal || code.startsWith("08") || CONNECTION_CLOSED_BY_SERVER.has(code);
}

/**
 * True when the server became a read-only stand-by, or when a migration changed a table that a prepared
 * statement of this connection uses.
 */
function isStale({ code, message }: DatabaseError): boolean {
  return code === "25006" || (code === "0A000" && message.startsWith("cached plan"));
}
