import { createHash } from "node:crypto";
import { gzip } from "node:zlib";
import { type Request } from "express";
import { queueAnswer, SECURITY_HEADERS } from "./envelope";
import { type ApiResponse } from "./exchange";

/** An answer that is equal for all callers: compressed once and sent from one buffer. */
export interface PrebuiltAnswer {
  readonly headers: readonly string[];
  readonly etag: string;
  readonly body: Buffer;
  /** Undefined until the compression is done, which takes a second for a large file. */
  gzipped: Buffer | undefined;
}

export interface PrebuiltOptions {
  contentType: string;
  /** In place of the policy that forbids everything. */
  contentSecurityPolicy?: string | undefined;
  /** In place of asking each time whether the answer is still the same. */
  cacheControl?: string | undefined;
  /** The compressed body, if it exists already. */
  gzipped?: Buffer | undefined;
}

export function prebuild(body: Buffer, options: PrebuiltOptions): PrebuiltAnswer {
  const { contentType, gzipped } = options;
  const headers = headersWith(options);
  headers.push("Content-Type", contentType, "Vary", "Accept-Encoding");
  const etag = createHash("sha256").update(body).digest("base64url");
  const answer: PrebuiltAnswer = { headers, etag, body, gzipped };
  if (gzipped !== undefined) return answer;
  gzip(body, (error, compressed) => {
    if (!error) answer.gzipped = compressed;
  });
  return answer;
}

/** Clients may keep the answer, and ask each time whether it is still the same, unless told otherwise. */
function headersWith({ contentSecurityPolicy, cacheControl = "no-cache" }: PrebuiltOptions): string[] {
  const headers = [...SECURITY_HEADERS];
  const replace = (name: string, value: string) => (headers[headers.indexOf(name) + 1] = value);
  replace("Cache-Control", cacheControl);
  if (contentSecurityPolicy !== undefined) replace("Content-Security-Policy", contentSecurityPolicy);
  return headers;
}

export function sendPrebuilt(req: Request, res: ApiResponse, answer: PrebuiltAnswer): void {
  // The buffer is shared, so the answer holds no bytes of its own.
  if (!queueAnswer(res, 0)) return;
  const { exchange } = res.locals;
  const gzipped = acceptsGzip(req.headers["accept-encoding"]) ? answer.gzipped : undefined;
  // A compressed body is another representation, so it has another tag.
  const etag = `"${answer.etag}${gzipped ? ".gzip" : ""}"`;
  const head = answer.headers.concat(exchange.headers, ["ETag", etag]);
  head.push("X-Request-Id", exchange.context.requestId);
  if (exchange.lifecycle.isStopping) res.shouldKeepAlive = false;
  if (req.headers["if-none-match"] === etag) {
    res.writeHead(304, head).end();
    return;
  }
  if (gzipped) head.push("Content-Encoding", "gzip");
  const body = gzipped ?? answer.body;
  head.push("Content-Length", String(body.length));
  res.writeHead(200, head);
  res.end(body);
}

function acceptsGzip(accepted: string | string[] | undefined): boolean {
  return /(^|,)\s*gzip\s*(,|$|;\s*q=(1|0\.\d*[1-9]))/i.test(String(accepted ?? ""));
}
