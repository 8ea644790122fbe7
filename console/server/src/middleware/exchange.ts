import { performance } from "node:perf_hooks";
import { type RequestHandler } from "express";
import { childTraceparent, runInContext } from "@wonrail/kit/context";
import { newId } from "@wonrail/kit/contract/ids";
import { type Log } from "@wonrail/kit/log";
import { Counter, DURATION_BUCKETS_SECONDS, Histogram, type Registry } from "@wonrail/kit/metrics";
import { beginSpan } from "@wonrail/kit/tracing";

const BUDGET_MS = 30_000;

/** Creates a request's id, trace and deadline, and writes its log line and its metrics. */
export function openExchange({ log, registry }: { log: Log; registry: Registry }): RequestHandler {
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
  return ({ method }, res, next) => {
    const startedMs = performance.now();
    const context = {
      requestId: newId("req"),
      traceparent: childTraceparent(),
      deadlineMs: Date.now() + BUDGET_MS,
    };
    res.set("X-Request-Id", context.requestId);
    const span = beginSpan("server");
    res.once("close", () => {
      const { route = "none", code, operator } = res.locals as Locals;
      const seconds = (performance.now() - startedMs) / 1000;
      const outcome = res.writableFinished ? `${Math.floor(res.statusCode / 100)}xx` : "aborted";
      const labels = { method, route, status_class: outcome };
      requests.inc(labels);
      duration.observe(labels, seconds);
      span?.end({
        name: `${method} ${route}`,
        context,
        parent: undefined,
        failure: res.statusCode >= 500 ? code : undefined,
      });
      const durationMs = Math.round(seconds * 1e4) / 10;
      runInContext(context, () =>
        log.info({ method, route, status: res.statusCode, durationMs, code, operator }, "request"),
      );
    });
    runInContext(context, next);
  };
}

/** Facts of a request for its log line and its metrics. */
interface Locals {
  /** The route's template. Paths and queries have ids and tokens. */
  route?: string;
  code?: string;
  operator?: string;
}
