import { createServer, IncomingMessage, type Server, ServerResponse } from "node:http";
import { type AddressInfo, type Socket } from "node:net";
import { type Express, type Request, type Response } from "express";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { type Log } from "@wonrail/kit/log";
import { Counter, Gauge, type Registry } from "@wonrail/kit/metrics";
import { refusalBody, SECURITY_HEADERS } from "./envelope";
import { closeQueuedResponsesOnDisconnect } from "./closeQueuedResponsesOnDisconnect";

export interface HttpServerOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  log: Log;
  registry: Registry;
  maxConnections: number;
  maxRequestsPerSocket: number;
  headersTimeoutMs: number;
  requestTimeoutMs: number;
  keepAliveTimeoutMs: number;
  /** How long a client may take to read its answer. */
  idleTimeoutMs: number;
}

export interface HttpServer {
  readonly port: number;
  /**
   * Accepts no new connections and closes each one after its running answer. Cuts the rest after
   * `graceMs`.
   */
  drain(graceMs: number): Promise<void>;
}

const MAX_HEADER_BYTES = 8 * 1024;
/** How often the two timeouts are looked at, which is how late they may be. */
const CHECK_INTERVAL_MS = 1_000;

/**
 * Starts the server around the app, with limits for slow clients, many clients and malformed
 * requests.
 */
export async function startHttpServer(app: Express, options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs } = options;
  let draining = false;
  const server = createServer(
    {
      ...useExpressPrototypes(app),
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      keepAliveTimeout: keepAliveTimeoutMs,
      insecureHTTPParser: false,
      // Answered by the app, in the envelope.
      requireHostHeader: false,
    },
    (req, res) => {
      // The app closes connections of running answers itself.
      if (draining || isLast(res)) res.shouldKeepAlive = false;
      if (res.socket === null) closeQueuedResponsesOnDisconnect(req.socket, res);
      // Express would answer a malformed URL itself, without our middlewares. So the request is
      // retried as an unknown path.
      app(req as Request, res as Response, () => {
        req.url = "/";
        app(req, res);
      });
    },
  );
  server.maxConnections = options.maxConnections;
  server.maxRequestsPerSocket = options.maxRequestsPerSocket;
  server.timeout = options.idleTimeoutMs;
  server.on("clientError", answerBrokenRequest);
  // Unsupported expectations and tunnels get an ordinary refusal.
  server.on("checkExpectation", ({ socket }) => {
    answerRaw(socket, 417, invalidRequest([{ path: "(header) Expect", message: "is not supported" }]));
  });
  server.on("connect", (_req, stream) => {
    const socket = stream as Socket;
    // Node has removed its own listeners from the socket. Without this one a reset would end the
    // process.
    socket.on("error", () => socket.destroy());
    answerRaw(socket, 405, new DomainError("REQ_005"));
  });
  measure(server, options.registry);

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  // A failed accept, such as one without a free file descriptor, must not stop the server.
  server.on("error", (error) => options.log.error({ err: error }, "a connection could not be accepted"));

  return {
    port: (server.address() as AddressInfo).port,
    async drain(graceMs) {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/**
 * Node announces the close with a connection's last allowed request but keeps reading. Later
 * pipelined requests would get a bare 503. Closing after that answer starts none of them, so that
 * the client may send them again.
 */
function isLast(res: ServerResponse): boolean {
  return (
    (res as ServerResponse & { maxRequestsOnConnectionReached?: boolean }).maxRequestsOnConnectionReached ===
    true
  );
}

/**
 * Creates requests and responses with the prototypes that Express would set. Express otherwise
 * replaces the prototype of each object. V8 then drops its knowledge of the object's shape, and each
 * access costs three times as much (docs/performance/payments.md).
 */
function useExpressPrototypes(app: Express) {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse {}
  app.request = Object.setPrototypeOf(ExpressRequest.prototype, app.request) as Express["request"];
  app.response = Object.setPrototypeOf(ExpressResponse.prototype, app.response) as Express["response"];
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

interface ParserError extends Error {
  code?: string;
}

/** Answers a request that Node's parser refuses, in the same envelope. */
function answerBrokenRequest(error: ParserError, stream: unknown): void {
  const socket = stream as Socket;
  switch (error.code) {
    case "ECONNRESET":
      socket.destroy();
      return;
    case "HPE_HEADER_OVERFLOW":
      return answerRaw(socket, 431, new DomainError("REQ_006", { maxHeaderBytes: MAX_HEADER_BYTES }));
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return answerRaw(socket, 413, new DomainError("REQ_006"));
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return answerRaw(
        socket,
        408,
        invalidRequest([{ path: "(request)", message: "did not arrive in time" }]),
      );
    default:
      return answerRaw(socket, 400, invalidRequest([{ path: "(request)", message: "is not valid HTTP" }]));
  }
}

const REASONS: Record<number, string> = {
  400: "Bad Request",
  405: "Method Not Allowed",
  408: "Request Timeout",
  413: "Payload Too Large",
  417: "Expectation Failed",
  431: "Request Header Fields Too Large",
};

/**
 * Writes a complete answer and ends the connection, because its next bytes have no known meaning.
 */
function answerRaw(socket: Socket, status: number, error: DomainError): void {
  if (!socket.writable || isAnswerPending(socket)) {
    socket.destroy();
    return;
  }
  const requestId = newId("req");
  const body = refusalBody(error, requestId);
  const headers = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? "Error"}`,
    ...pairs(SECURITY_HEADERS),
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    `Date: ${new Date().toUTCString()}`,
    "Connection: close",
  ];
  socket.end(`${headers.join("\r\n")}\r\n\r\n${body}`);
  // The sender may continue for ever; its bytes are discarded.
  socket.resume();
  setTimeout(() => socket.destroy(), CHECK_INTERVAL_MS).unref();
}

/**
 * The next bytes on the wire belong to another request's answer. If that answer is half written, a
 * refusal would garble it. If it is not started, the client would take the refusal for it. So the
 * connection is cut, and the client knows that the outcome is unknown.
 */
function isAnswerPending(socket: Socket): boolean {
  const { _httpMessage: answer } = socket as Socket & { _httpMessage?: ServerResponse | null };
  return answer != null && (answer.headersSent || answer.req.complete);
}

function pairs(headers: readonly string[]): string[] {
  return headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : []));
}

function measure(server: Server, registry: Registry): void {
  new Gauge({
    name: "http_connections",
    help: "Open connections of clients",
    registers: [registry],
    async collect() {
      this.set(
        await new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count ?? 0))),
      );
    },
  });
  const dropped = new Counter({
    name: "http_connections_dropped_total",
    help: "Connections refused because there were too many",
    registers: [registry],
  });
  server.on("drop", () => dropped.inc());
}
