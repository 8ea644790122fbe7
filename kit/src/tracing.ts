import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type RequestContext, traceIdOf } from "./context";
import { type Log } from "./log";

/** OpenTelemetry's own names. Without an endpoint nothing is recorded. */
export const tracingShape = {
  /** A collector that takes OTLP over HTTP: http://collector:4318. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** name=value,name=value, percent-encoded where need be: a collector's credentials. */
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional(),
  /** Which share of traces is recorded, the same ones in every process. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
};

export type TracingConfig = z.output<z.ZodObject<typeof tracingShape>>;

export type SpanKind = "server" | "consumer";

/** How a step of a request ended. */
export interface SpanEnd {
  name: string;
  /** Its traceparent names the span. */
  context: RequestContext;
  /** The request's incoming traceparent. */
  parent: string | undefined;
  /** The reason of a failure. */
  failure?: string | undefined;
}

interface Span extends SpanEnd {
  kind: SpanKind;
  startMs: number;
  endMs: number;
}

/** As OTLP numbers them. */
const KINDS = { server: 2, consumer: 5 } as const;
const MAX_WAITING = 4_096;
const MAX_BATCH = 512;
const EVERY_MS = 2_000;
const EXPORT_TIMEOUT_MS = 5_000;

let record: ((span: Span) => void) | undefined;

/**
 * Starts a step of a request. A process has one tracing, like one log; without it this returns
 * undefined, so that `span?.end({ … })` costs a comparison.
 */
export function beginSpan(kind: SpanKind): { end(how: SpanEnd): void } | undefined {
  if (record === undefined) return undefined;
  const [startMs, startedAt] = [Date.now(), performance.now()];
  return {
    end: (how) => record?.({ ...how, kind, startMs, endMs: startMs + performance.now() - startedAt }),
  };
}

export interface Tracing {
  /** Sends waiting spans. */
  close(): Promise<void>;
}

/**
 * Returns undefined without an endpoint. Spans that the collector refuses are dropped: requests
 * never wait for it.
 */
export function startTracing(
  config: TracingConfig,
  { service, log }: { service: string; log: Log },
): Tracing | undefined {
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  const url = `${endpoint.replace(/\/$/, "")}/v1/traces`;
  const headers = { "content-type": "application/json", ...headersIn(config.OTEL_EXPORTER_OTLP_HEADERS) };
  const waiting: Span[] = [];
  const closing = new AbortController();
  let dropped = 0;

  async function send(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_BATCH);
      try {
        const body = JSON.stringify(requestOf(service, batch));
        const signal = AbortSignal.timeout(EXPORT_TIMEOUT_MS);
        const response = await fetch(url, { method: "POST", headers, body, signal });
        await response.arrayBuffer();
        if (!response.ok) throw new Error(`the collector answered ${response.status}`);
      } catch (error) {
        dropped += batch.length + waiting.splice(0).length;
        log.warn({ err: error, dropped }, "spans could not be sent");
      }
    }
  }
  async function sendNowAndThen(): Promise<void> {
    while (!closing.signal.aborted) {
      await sleep(EVERY_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      await send();
    }
  }

  const threshold = config.OTEL_TRACES_SAMPLER_ARG * 2 ** 32;
  record = (span) => {
    if (parseInt(traceIdOf(span.context.traceparent).slice(-8), 16) >= threshold) return;
    if (waiting.length < MAX_WAITING) waiting.push(span);
    else dropped += 1;
  };
  const sending = sendNowAndThen();
  log.info({ url, share: config.OTEL_TRACES_SAMPLER_ARG }, "tracing");
  return {
    async close() {
      record = undefined;
      closing.abort();
      await sending;
    },
  };
}

function headersIn(text = ""): Record<string, string> {
  const pairs = text.split(",").filter((pair) => pair.includes("="));
  return Object.fromEntries(
    pairs.map((pair) => {
      const end = pair.indexOf("=");
      return [decoded(pair.slice(0, end)), decoded(pair.slice(end + 1))];
    }),
  );
}

/**
 * Decodes as in W3C's Baggage, the vendors' format: a space in a value is %20. Invalid encodings
 * stay literal.
 */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return text.trim();
  }
}

/** ExportTraceServiceRequest in OTLP's JSON form: ids in hex, times as strings of nanoseconds. */
function requestOf(service: string, spans: Span[]): object {
  const resource = { attributes: [attribute("service.name", service)] };
  return {
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "wonrail" }, spans: spans.map(toOtlp) }] }],
  };
}

function toOtlp({ name, kind, parent, context, startMs, endMs, failure }: Span): object {
  const { traceparent, requestId, orgId } = context;
  const isOfTrace = parent !== undefined && traceIdOf(parent) === traceIdOf(traceparent);
  return {
    traceId: traceIdOf(traceparent),
    spanId: spanIdOf(traceparent),
    ...(isOfTrace ? { parentSpanId: spanIdOf(parent) } : {}),
    name: name.replace(/^\//, ""),
    kind: KINDS[kind],
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes: [
      attribute("wonrail.request_id", requestId),
      ...(orgId === undefined ? [] : [attribute("wonrail.org_id", orgId)]),
    ],
    status: failure === undefined ? {} : { code: 2, message: failure },
  };
}

function attribute(key: string, stringValue: string): object {
  return { key, value: { stringValue } };
}

function spanIdOf(traceparent: string): string {
  return traceparent.slice(36, 52);
}

function nanos(ms: number): string {
  return BigInt(Math.round(ms * 1_000)).toString() + "000";
}
