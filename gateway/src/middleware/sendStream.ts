import { once } from "node:events";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Log } from "@wonrail/kit/log";
import { type AnswerStream } from "../routes/operation";
import { SECURITY_HEADERS } from "./envelope";
import { type ApiResponse } from "./exchange";

/** Time after which a client that reads nothing is disconnected. */
const STALL_MS = 15_000;

export interface StreamParts {
  log: Log;
  /** Throws when the key no longer allows the operation. */
  authenticate: () => Promise<unknown>;
}

/**
 * Sends an answer of any length with one chunk in memory. A failure behind the head destroys the
 * connection, so that the client cannot take a part for the whole.
 */
export async function sendStream(
  res: ApiResponse,
  stream: AnswerStream,
  { log, authenticate }: StreamParts,
): Promise<void> {
  // With `Connection: close`, fetch of Node takes a cut answer for a whole one: nodejs/undici#5273.
  const isLast = !res.shouldKeepAlive;
  res.shouldKeepAlive = true;
  writeHead(res, stream);
  if (res.req.method === "HEAD") return void res.end();
  try {
    for await (const chunk of stream.chunks) {
      if (res.destroyed) return;
      await writeChunk(res, chunk);
      await authenticate();
    }
    res.end(() => {
      if (isLast || res.locals.exchange.lifecycle.isStopping) res.req.socket.end();
    });
  } catch (error) {
    const { exchange } = res.locals;
    exchange.streamFailure = error instanceof DomainError ? error.code : "SYS_001";
    log.error({ err: error }, "a streamed answer was cut");
    res.destroy();
  }
}

function writeHead(res: ApiResponse, { contentType, fileName }: AnswerStream): void {
  const { exchange } = res.locals;
  const head = SECURITY_HEADERS.concat(exchange.headers);
  head.push("Content-Type", contentType, "X-Accel-Buffering", "no");
  head.push("Content-Disposition", `attachment; filename="${fileName}"`);
  head.push("X-Request-Id", exchange.context.requestId, "Wonrail-Version", exchange.apiVersion);
  res.writeHead(200, head);
}

/** Waits until the client has read. Disconnects a client that stalls. */
export async function writeChunk(res: ApiResponse, text: string): Promise<void> {
  if (res.write(text)) return;
  const ended = new AbortController();
  const timer = setTimeout(() => res.destroy(), STALL_MS);
  const { signal } = ended;
  try {
    await Promise.race([once(res, "drain", { signal }), once(res, "close", { signal })]);
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}
