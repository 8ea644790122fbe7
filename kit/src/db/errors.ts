import { types } from "node:util";
import { DatabaseError } from "pg";
import { DomainError } from "../contract/errors";

/**
 * A COMMIT (or a single writing statement) was sent and not answered: it may have been executed.
 * Never repeat the work without a check; a caller gets SYS_003 and repeats the request with the
 * same key.
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

/** True when the same work may succeed later unchanged: the database was busy, locked or away. */
export function isTransient(error: unknown): boolean {
  if (error instanceof DomainError) return error.retryable;
  return isRetryable(error) || isConnectionLoss(error) || BUSY.test(sqlStateOf(error) ?? "");
}

/**
 * Serialization failure, deadlock, lock not available: Postgres rolled back, and a retry may
 * succeed at once.
 */
export function isRetryable(error: unknown): boolean {
  return RETRYABLE.has(sqlStateOf(error) ?? "");
}

/**
 * True when the connection is useless, as reported by the socket, the driver, or a server that
 * stops or has changed.
 */
export function isConnectionLoss(error: unknown): boolean {
  if (error instanceof DatabaseError) return isDying(error) || isStale(error);
  if (error instanceof DomainError || !types.isNativeError(error)) return false;
  return (
    SOCKET_CODES.has((error as NodeJS.ErrnoException).code ?? "") || DRIVER_SAYS_GONE.test(error.message)
  );
}

/** True when the database is unreachable or full, and not when it refuses the login or the name. */
export function isUnreachable(error: unknown): boolean {
  const cause = error instanceof DomainError ? error.cause : error;
  return isConnectionLoss(cause) && !REFUSED.test(sqlStateOf(cause) ?? "");
}

/**
 * True when a statement was sent without an answer; an ERROR of the server proves that nothing was
 * executed.
 */
export function mayBeExecuted(error: unknown): boolean {
  if (error instanceof DatabaseError && error.severity === "ERROR") return false;
  return isConnectionLoss(error) && !NEVER_SENT.test((error as Error).message);
}

/**
 * The caller's error after a rollback: REQ_001 for text that Postgres cannot store, SYS_002 when a
 * retry helps, otherwise the error itself.
 */
export function asRolledBack(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  if (UNSTORABLE.has(sqlStateOf(error) ?? "")) return unstorable(error);
  return isTransient(error) ? unavailable(error) : error;
}

/** Postgres' answer does not name the text. */
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

const RETRYABLE = new Set(["40001", "40P01", "55P03"]);
/**
 * Statement timeout; no disk, memory, connections, files or other resources; failures of the
 * operating system.
 */
const BUSY = /^(57014$|53|58)/;
/** A character that the encoding lacks, or that JSON allows and text cannot hold. */
const UNSTORABLE = new Set(["22021", "22P05"]);
/** Shut down, crashed, starting up, dropped, idle for too long. */
const SERVER_GOING = new Set(["57P01", "57P02", "57P03", "57P04", "57P05", "25P03"]);
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
/** Wrong user or password; no such database. */
const REFUSED = /^(28|3D)/;
/** The driver's message for a connection to which it no longer writes. */
const NEVER_SENT = /not queryable/;
const DRIVER_SAYS_GONE =
  /^Connection terminated|not queryable|^timeout (exceeded|expired)|socket has been ended|^This socket/;

function isDying({ severity, code = "" }: DatabaseError): boolean {
  return severity === "FATAL" || severity === "PANIC" || code.startsWith("08") || SERVER_GOING.has(code);
}

/**
 * The server became a read-only stand-by, or a migration changed a table under prepared statements.
 */
function isStale({ code, message }: DatabaseError): boolean {
  return code === "25006" || (code === "0A000" && message.startsWith("cached plan"));
}
