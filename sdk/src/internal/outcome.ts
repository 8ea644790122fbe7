// Tells whether a failed attempt at a request may have been executed.
import {
  type ErrorKind,
  kindOf,
  OutcomeUnknownError,
  ServerError,
  type ServiceError,
  serviceError,
} from "../core/errors.ts";
import { wasNeverSent } from "./failureCauses.ts";

type Failure = Pick<ServiceError, "code" | "status"> & { cause?: unknown };

/** A proxy with these statuses has not passed the request on. A 403 or a redirect may hide an answer. */
const NOT_FORWARDED_STATUSES = [400, 401, 404, 405, 413, 414, 429, 431];
const NOT_EXECUTED_CODES = ["SYS_002", "SYS_004", "RATE_001"];
const OPEN_KINDS: ErrorKind[] = [
  "connection",
  "timeout",
  "badAnswer",
  "server",
  "unavailable",
  "outcomeUnknown",
];

/** True when this attempt was not executed. Earlier attempts may have been. */
export function wasNotExecuted({ code, status = 0, cause }: Failure): boolean {
  if (code === "SDK_001") return wasNeverSent(cause);
  if (code === "SDK_004") return NOT_FORWARDED_STATUSES.includes(status);
  return NOT_EXECUTED_CODES.includes(code) || code.startsWith("WAUTH_");
}

/** True when this attempt may have been executed. */
export function isOutcomeOpen(failure: Failure): boolean {
  if (wasNotExecuted(failure)) return false;
  return failure.code === "REQ_002" || OPEN_KINDS.includes(kindOf(failure));
}

/**
 * The error that ends a repeatable call. If the outcome is open, the error must not look like a
 * refusal. A proxy's answer and an answer about the last attempt alone do not settle it.
 */
export function finalError(last: ServiceError, isEarlierOpen: boolean): ServiceError {
  if (last.code === "SDK_004" && isOutcomeOpen(last)) return outcomeUnknown(last);
  const isAboutLastAttempt = wasNotExecuted(last) || last instanceof ServerError;
  return isEarlierOpen && isAboutLastAttempt && !(last instanceof OutcomeUnknownError)
    ? outcomeUnknown(last)
    : last;
}

function outcomeUnknown(last: ServiceError): ServiceError {
  const { requestId, idempotencyKey, retryAfterMs } = last;
  const withoutKey = "The outcome is not known. The same call is safe to repeat.";
  return serviceError({
    code: "SYS_003",
    message: idempotencyKey === undefined ? withoutKey : undefined,
    requestId,
    idempotencyKey,
    retryAfterMs,
    outcomeUnknown: true,
    cause: last,
  });
}
