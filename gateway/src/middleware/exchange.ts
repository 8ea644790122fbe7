import { performance } from "node:perf_hooks";
import { type NextFunction, type Request, type RequestHandler, type Response } from "express";
import { childTraceparent, type RequestContext, runInContext } from "@wonrail/kit/context";
import { LATEST_API_VERSION } from "@wonrail/kit/contract/apiVersions";
import { type ErrorCode, errorTable, invalidRequest } from "@wonrail/kit/contract/errors";
import { isRequestId } from "@wonrail/kit/grpc/client";
import { newId } from "@wonrail/kit/contract/ids";
import { type Log } from "@wonrail/kit/log";
import { Counter, DURATION_BUCKETS_SECONDS, Gauge, Histogram, type Registry } from "@wonrail/kit/metrics";
import { beginSpan } from "@wonrail/kit/tracing";
import { type ForeignFormat } from "../routes/operation";
import { type Connections } from "./connections";
import { countHeader } from "./countHeader";

/** State of one request and its answer, for the log line and the metrics. */
export interface Exchange {
  readonly startedMs: number;
  context: RequestContext;
  /** The route's template, because a path with ids would create a series for each id. */
  route: string;
  /** Set when the route is known; respects the trusted proxies. */
  clientAddress: string;
  /** The version of the API that the answer has: the request's, else the key's, else the newest. */
  apiVersion: string;
  code: ErrorCode | undefined;
  /** Code of the failure that cut a streamed answer behind its head. */
  streamFailure: ErrorCode | undefined;
  /** Format of refusals beside the envelope. */
  foreignFormat: ForeignFormat | undefined;
  /** Cause of a failure that is not the caller's fault. */
  cause: string | undefined;
  /** Names and values, alternating, of headers beyond the common ones. */
  readonly headers: string[];
  /** Bytes in the connection's queue until the client has read the answer. */
  queuedBytes: number;
  readonly lifecycle: Lifecycle;
  readonly connections: Connections;
}

/** State of the process that answers depend on. */
export interface Lifecycle {
  /** Each connection is closed after its next answer. */
  isStopping: boolean;
}

export type ApiResponse = Response<unknown, { exchange: Exchange }>;

export interface ExchangeOptions {
  log: Log;
  registry: Registry;
  lifecycle: Lifecycle;
  connections: Connections;
  /** Time limit for all calls behind one request. */
  budgetMs: number;
}

/**
 * First middleware: creates the request's id, trace, deadline and context, and writes its log line.
 */
export function openExchange(options: ExchangeOptions): RequestHandler {
  const { log, registry, lifecycle, connections, budgetMs } = options;
  const observe = observer(registry);
  // Every field of the line is chosen here and none is a secret, so redaction is off.
  const accessLog = log.child({}, { redact: [] });
  return (req: Request, res: Response, next: NextFunction) => {
    if (!connections.begin(req)) return;
    const given = req.headers["x-request-id"];
    const parent = req.headers["traceparent"] as string | undefined;
    const exchange: Exchange = {
      startedMs: performance.now(),
      context: {
        requestId: isRequestId(given) ? given : newId("req"),
        traceparent: childTraceparent(parent),
        deadlineMs: Date.now() + budgetMs,
      },
      route: "none",
      clientAddress: "unknown",
      apiVersion: LATEST_API_VERSION,
      code: undefined,
      streamFailure: undefined,
      foreignFormat: undefined,
      cause: undefined,
      headers: [],
      queuedBytes: 0,
      lifecycle,
      connections,
    };
    (res as ApiResponse).locals.exchange = exchange;
    const measured = observe(req.method);
    const span = beginSpan("server");
    res.once("close", () => {
      connections.end(req, exchange.queuedBytes);
      const seconds = (performance.now() - exchange.startedMs) / 1000;
      measured(exchange.route, outcomeOf(res, exchange), seconds);
      span?.end({
        name: `${req.method} ${exchange.route}`,
        context: exchange.context,
        parent,
        failure: res.statusCode >= 500 ? exchange.code : exchange.streamFailure,
      });
      runInContext(exchange.context, () => logAccess(accessLog, req, res, exchange, seconds));
    });
    const hosts = countHeader(req, "host");
    // HTTP/1.1 requires the header. Node would refuse a missing one without the envelope, and of
    // two it takes the first.
    if (hosts > 1) return next(invalidRequest([{ path: "(header) Host", message: "is given twice" }]));
    if (hosts === 0 && req.httpVersionMinor > 0) {
      return next(invalidRequest([{ path: "(header) Host", message: "is required" }]));
    }
    runInContext(exchange.context, next);
  };
}

/** A streamed answer that failed counts with the status of its failure, not with the 200 of its head. */
function outcomeOf(res: Response, { streamFailure }: Exchange): string {
  if (!res.writableFinished && streamFailure === undefined) return "aborted";
  const status = streamFailure === undefined ? res.statusCode : errorTable[streamFailure].http;
  return `${Math.floor(status / 100)}xx`;
}

function logAccess(log: Log, req: Request, res: Response, exchange: Exchange, seconds: number): void {
  const { route, code, cause, clientAddress, streamFailure } = exchange;
  const line = {
    method: req.method,
    route,
    status: res.statusCode,
    durationMs: Math.round(seconds * 1e4) / 10,
  };
  if (streamFailure !== undefined) log.error({ ...line, code: streamFailure }, "streamed answer cut");
  else if (!res.writableFinished) log.info(line, "request aborted");
  else if (code === undefined) log.info(line, "request");
  else if (NEEDS_ADDRESS.has(res.statusCode)) log.info({ ...line, code, clientAddress }, "request");
  else if (res.statusCode < 500) log.info({ ...line, code }, "request");
  else log.error(cause === undefined ? { ...line, code } : { ...line, code, cause }, "request");
}

/**
 * Statuses whose log line has the client's address, because an operator needs it to block the
 * client. Other lines omit it: an address is personal data.
 */
const NEEDS_ADDRESS = new Set([401, 429]);

/**
 * Request metrics. Label sets are looked up once per combination, because hashing them costs more
 * than counting.
 */
function observer(
  registry: Registry,
): (method: string) => (route: string, outcome: string, seconds: number) => void {
  const labelNames = ["method", "route", "status_class"] as const;
  const requests = new Counter({
    name: "http_requests_total",
    help: "Requests answered, by route template",
    labelNames,
    registers: [registry],
  });
  const duration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from the first byte of the request to the last byte of its answer",
    labelNames,
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  const inFlight = new Gauge({
    name: "http_requests_in_flight",
    help: "Requests under way",
    registers: [registry],
  });
  const series = new Map<string, { count(): void; time(seconds: number): void }>();

  return (method) => {
    inFlight.inc();
    return (route, outcome, seconds) => {
      inFlight.dec();
      const key = `${method} ${route} ${outcome}`;
      let one = series.get(key);
      if (!one) {
        const labels = { method, route, status_class: outcome };
        const [counter, histogram] = [requests.labels(labels), duration.labels(labels)];
        one = { count: () => counter.inc(), time: (value) => histogram.observe(value) };
        series.set(key, one);
      }
      one.count();
      one.time(seconds);
    };
  };
}
