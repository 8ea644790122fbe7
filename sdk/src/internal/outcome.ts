// Tells whether a failed attempt at a request may have been executed.
import {
  type ErrorKind,
  kindOf,
  OutcomeUnknownError,
  ServerError,
  type ServiceError,
  serviceError,
} from "../core/errors.ts";

type Failure = Pick<ServiceError, "code" | "status">;

/** Whoever answers so in words of its own has not passed the request on. A 403 or a redirect may stand before an answer. */
const TURNED_AWAY_STATUSES = [400, 401, 404, 405, 413, 414, 429, 431];
const NOTHING_DONE_CODES = ["SYS_002", "SYS_004", "RATE_001"];
const OPEN_KINDS: ErrorKind[] = [
  "connection",
  "timeout",
  "badAnswer",
  "server",
  "unavailable",
  "outcomeUnknown",
];

/** This attempt did nothing. Of an earlier one it says nothing. */
export function didNothing({ code, status = 0 }: Failure): boolean {
  if (code === "SDK_004") return TURNED_AWAY_STATUSES.includes(status);
  return NOTHING_DONE_CODES.includes(code) || code.startsWith("WAUTH_");
}

/** Nobody says whether this attempt did it. */
export function leavesOpen(failure: Failure): boolean {
  if (didNothing(failure)) return false;
  return failure.code === "REQ_002" || OPEN_KINDS.includes(kindOf(failure));
}

/**
 * What a call that may be repeated ends with. One that leaves it open whether it was done must not look like a refusal: not by the answer of
 * somebody else, and not by what was said of the last attempt only.
 */
export function ending(last: ServiceError, isEarlierOpen: boolean): ServiceError {
  if (last.code === "SDK_004" && leavesOpen(last)) return outcomeUnknown(last);
  const isOfLastOnly = didNothing(last) || last instanceof ServerError;
  return isEarlierOpen && isOfLastOnly && !(last instanceof OutcomeUnknownError)
    ? outcomeUnknown(last)
    : last;
}

function outcomeUnknown(last: ServiceError): ServiceError {
  const { requestId, idempotencyKey, retryAfterMs } = last;
  return serviceError({
    code: "SYS_003",
    message:
      idempotencyKey === undefined
        ? "The outcome is not known. The same call again does no harm."
        : undefined,
    requestId,
    idempotencyKey,
    retryAfterMs,
    outcomeUnknown: true,
    cause: last,
  });
}
