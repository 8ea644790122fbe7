import type { ServiceError } from "../core/errors.ts";

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;
/** A longer Retry-After ends the call; the error carries the delay. */
const MAX_RETRY_AFTER_MS = 60_000;
const RETRIED_STATUSES = [408, 429, 502, 503, 504];

/** True when a retry can help. The caller decides whether the request may be repeated. */
export function isRetried(error: ServiceError): boolean {
  if (error.code === "SDK_001" || error.code === "SDK_002") return true;
  if ((error.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) return false;
  // An earlier attempt with the same key is still running. A retry gets its answer.
  if (error.code === "REQ_002") return true;
  return error.status !== undefined && RETRIED_STATUSES.includes(error.status);
}

/** Doubles each time, with jitter to spread clients, and never below Retry-After. */
export function retryDelayMs(
  retriesMade: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number {
  const backoffMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** retriesMade);
  return Math.max(backoffMs * (0.5 + random() / 2), (retryAfterMs ?? 0) * (1 + random() / 10));
}

/** Reads Retry-After: whole seconds, or a date. A date is compared with the Date header, else with our clock. */
export function parseRetryAfterMs(headers: Headers, ourNowMs: number): number | undefined {
  const header = headers.get("retry-after");
  if (header === null) return undefined;
  if (/^[0-9]{1,9}$/.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  if (Number.isNaN(atMs)) return undefined;
  const serverNowMs = Date.parse(headers.get("date") ?? "");
  return Math.max(0, atMs - (Number.isNaN(serverNowMs) ? ourNowMs : serverNowMs));
}
