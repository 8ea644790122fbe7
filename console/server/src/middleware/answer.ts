import { type ErrorRequestHandler, type RequestHandler, type Response } from "express";
import { currentContext } from "@wonrail/kit/context";
import { causesOf, DomainError, errorTable, invalidRequest } from "@wonrail/kit/contract/errors";
import { type Json, type JsonObject } from "@wonrail/kit/json";
import { type Log } from "@wonrail/kit/log";
import { ConsoleError, consoleErrors } from "../errors";

/** Pages load files of this host only. No site may frame a page, and no page has an inline script. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The component library sets styles at run time.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

export const secureHeaders: RequestHandler = (_req, res, next) => {
  res.set({
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
  });
  next();
};

export function sendData(res: Response, data: Json): void {
  send(res, 200, { success: true, data, error: null });
}

/** A page without a script, for sign-in and for a console whose web part is not built. */
export function sendPage(res: Response, status: number, title: string, text: string): void {
  const lines = text.split("\n").map((line) => `<p>${escapeHtml(line)}</p>`);
  res
    .status(status)
    .type("html")
    .send(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>` +
        `<body><h1>${escapeHtml(title)}</h1>${lines.join("")}<p><a href="/">Wonrail console</a></p></body></html>\n`,
    );
}

/** Turns every failure into an answer. Unexpected errors are logged here, once, and never shown. */
export function answerErrors(log: Log): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    if (res.headersSent) return void res.destroy();
    const { status, code, message, details, cause } = refusalOf(error);
    res.locals.code = code;
    if (status >= 500) log.error({ code, err: error, cause }, "request failed");
    else if (code === "CON_004") log.warn({ code, details, cause }, "sign-in failed");
    if (req.path.startsWith("/auth/") && req.method === "GET") {
      const reason = typeof details?.reason === "string" ? `\nReason: ${details.reason}.` : "";
      return sendPage(res, status, "Sign-in failed", `${message}${reason}`);
    }
    const retryAfterMs = details?.retryAfterMs;
    if (typeof retryAfterMs === "number") res.set("Retry-After", String(Math.ceil(retryAfterMs / 1000)));
    send(res, status, { success: false, data: null, error: { code, message, details } });
  };
}

export interface Refused {
  status: number;
  code: string;
  message: string;
  details: JsonObject | null;
  /** For the log only. */
  cause?: string | undefined;
}

export function refusalOf(error: unknown): Refused {
  if (error instanceof ConsoleError) {
    const { http, message } = consoleErrors[error.code];
    return { status: http, code: error.code, message, details: error.details, cause: causesOf(error) };
  }
  const known = error instanceof DomainError ? error : (bodyError(error) ?? new DomainError("SYS_001"));
  const { http, message } = errorTable[known.code];
  return { status: http, code: known.code, message, details: known.details, cause: causesOf(known) };
}

/** The errors of express.json and of a path that cannot be decoded. */
function bodyError(error: unknown): DomainError | undefined {
  if (error instanceof URIError)
    return invalidRequest([{ path: "(path)", message: "has percent-encoding that is not UTF-8" }]);
  if (!(error instanceof Error) || !("type" in error)) return undefined;
  switch (error.type) {
    case "entity.too.large":
      return new DomainError("REQ_006");
    case "encoding.unsupported":
    case "charset.unsupported":
      return new DomainError("REQ_007");
    default:
      return invalidRequest([{ path: "(body)", message: "is not valid JSON" }]);
  }
}

function send(res: Response, status: number, body: JsonObject): void {
  const { requestId = "" } = currentContext() ?? {};
  res.status(status).json({ ...body, requestId, timestamp: new Date().toISOString() });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
