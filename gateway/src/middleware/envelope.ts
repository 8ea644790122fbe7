import { type RateState } from "@wonrail/kit/addressLimits";
import { causesOf, type DomainError, errorTable, isOutage } from "@wonrail/kit/contract/errors";
import { type Json } from "@wonrail/kit/json";
import { BYTES_PER_ANSWER } from "./connections";
import { type ApiResponse, type Exchange } from "./exchange";
import { type ForeignFormat } from "../routes/operation";

/** A refusal, and parts of its answer that the error table does not hold. */
export interface Refusal {
  error: DomainError;
  /** Overrides the code's status where HTTP has a more exact one. */
  status?: number;
  /** For a method that is not supported. */
  allow?: string;
}

/**
 * The answer is a document, not a page: nothing may frame it, run in it, guess its type or store
 * it.
 */
export const SECURITY_HEADERS: readonly string[] = [
  "Content-Security-Policy",
  "default-src 'none'; frame-ancestors 'none'",
  "Strict-Transport-Security",
  "max-age=31536000; includeSubDomains",
  "X-Content-Type-Options",
  "nosniff",
  "X-Frame-Options",
  "DENY",
  "Referrer-Policy",
  "no-referrer",
  "Cross-Origin-Resource-Policy",
  "same-origin",
  "Cache-Control",
  "no-store",
];

const JSON_HEADERS: readonly string[] = [
  ...SECURITY_HEADERS,
  "Content-Type",
  "application/json; charset=utf-8",
];

export function sendData(res: ApiResponse, status: number, data: unknown): void {
  const { requestId } = res.locals.exchange.context;
  const now = new Date().toISOString();
  // Built by hand, because only the data needs a serialiser: the request id is already validated.
  const body = `{"success":true,"data":${JSON.stringify(data)},"error":null,"requestId":"${requestId}","timestamp":"${now}"}`;
  sendJson(res, status, body);
}

/** An answer in the format of another specification. */
export function sendBare(res: ApiResponse, status: number, data: unknown): void {
  sendJson(res, status, JSON.stringify(data));
}

export function sendRefusal(res: ApiResponse, { error, status, allow }: Refusal): void {
  const { exchange } = res.locals;
  exchange.code = error.code;
  // SYS_001 has its own log line with the cause.
  if (isOutage(error) && error.code !== "SYS_001") exchange.cause = causesOf(error);
  const row = errorTable[error.code];
  const answerStatus = status ?? row.http;
  if (allow !== undefined) exchange.headers.push("Allow", allow);
  if (answerStatus === 401) exchange.headers.push("WWW-Authenticate", 'Bearer realm="wonrail"');
  if (row.retryable) exchange.headers.push("Retry-After", String(retryAfterSeconds(error)));
  sendJson(res, answerStatus, refusalBody(error, exchange.context.requestId, exchange.foreignFormat));
}

export function refusalBody(error: DomainError, requestId: string, foreignFormat?: ForeignFormat): string {
  const { code, details } = error;
  const message = errorTable[code].message;
  const timestamp = new Date().toISOString();
  return JSON.stringify({
    ...foreignFormat?.refusalOf({ code, message }),
    success: false,
    data: null,
    error: { code, message, details },
    requestId,
    timestamp,
  });
}

export function addRateHeaders({ headers }: Exchange, { limit, remaining, resetSeconds }: RateState): void {
  headers.push(
    "RateLimit-Limit",
    String(limit),
    "RateLimit-Remaining",
    String(remaining),
    "RateLimit-Reset",
    String(resetSeconds),
  );
}

/** Rounds up to whole seconds, so that a client that waits exactly this long is not early. */
function retryAfterSeconds(error: DomainError): number {
  const waitMs: Json | undefined = error.details?.retryAfterMs;
  return typeof waitMs === "number" && waitMs > 0 ? Math.ceil(waitMs / 1000) : 1;
}

/** Sends a serialised body. Writing the head at once is cheaper than setting headers one by one. */
function sendJson(res: ApiResponse, status: number, body: string): void {
  const bytes = Buffer.byteLength(body);
  if (!queueAnswer(res, bytes)) return;
  const { exchange } = res.locals;
  const head = JSON_HEADERS.concat(exchange.headers);
  head.push("X-Request-Id", exchange.context.requestId, "Wonrail-Version", exchange.apiVersion);
  head.push("Content-Length", String(bytes));
  if (exchange.lifecycle.isStopping) res.shouldKeepAlive = false;
  res.writeHead(status, head);
  res.end(body);
}

/**
 * Counts an answer with `bytes` of its own. Returns false when the connection was closed instead.
 */
export function queueAnswer(res: ApiResponse, bytes: number): boolean {
  const { exchange } = res.locals;
  exchange.queuedBytes = bytes + BYTES_PER_ANSWER;
  return exchange.connections.queue(res.req, exchange.queuedBytes);
}
