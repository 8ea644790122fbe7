import type { ServiceError } from "../core/errors.ts";

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;
/** A service that asks for more is given up on; the error says how long it wants. */
const MAX_RETRY_AFTER_MS = 60_000;
const RETRIED_STATUSES = [408, 429, 502, 503, 504];

/** Whether the same request may be sent once more. Whether it may be repeated at all is for the caller to know. */
export function isRetried(error: ServiceError): boolean {
  // The answer never came: it may have been done, which is why only repeatable requests come here.
  if (error.code === "SDK_001" || error.code === "SDK_002") return true;
  if ((error.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) return false;
  // An earlier attempt with the same key is still running; its answer is what we want.
  if (error.code === "REQ_002") return true;
  return error.status !== undefined && RETRIED_STATUSES.includes(error.status);
}

/** Doubles each time, with jitter so that clients that failed together do not come back together; never sooner than asked. */
export function retryDelayMs(
  retriesMade: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number {
  const backoffMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** retriesMade);
  return Math.max(backoffMs * (0.5 + random() / 2), (retryAfterMs ?? 0) * (1 + random() / 10));
}

/** The Retry-After header: whole seconds, or a date. That is by the clock of who answers; by ours only where no Date tells it. */
export function parseRetryAfterMs(headers: Headers, ourNowMs: number): number | undefined {
  const header = headers.get("retry-after");
  if (header === null) return undefined;
  if (/^[0-9]{1,9}$/.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  if (Number.isNaN(atMs)) return undefined;
  const theirNowMs = Date.parse(headers.get("date") ?? "");
  return Math.max(0, atMs - (Number.isNaN(theirNowMs) ? ourNowMs : theirNowMs));
}
