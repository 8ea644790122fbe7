import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { childTraceparent, traceIdOf } from "./context";
import { eventually, testLog } from "./testing";
import { beginSpan, startTracing, type TracingConfig, type Tracing } from "./tracing";

interface Received {
  url: string;
  headers: IncomingHttpHeaders;
  body: { resourceSpans: { resource: object; scopeSpans: { spans: Record<string, unknown>[] }[] }[] };
}

let collector: Server;
let received: Received[] = [];
let answer = 200;
let tracing: Tracing | undefined;

beforeEach(async () => {
  [received, answer] = [[], 200];
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Received["body"];
      received.push({ url: request.url!, headers: request.headers, body });
      response.writeHead(answer).end("{}");
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  await tracing?.close();
  tracing = undefined;
  collector.closeAllConnections();
  await new Promise((resolve) => collector.close(resolve));
});

const start = (config: Partial<TracingConfig> = {}, log = testLog()) => {
  const { port } = collector.address() as AddressInfo;
  const defaults = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/`, OTEL_TRACES_SAMPLER_ARG: 1 };
  tracing = startTracing({ ...defaults, ...config }, { service: "ledger", log });
};
const spans = () =>
  received.flatMap(({ body }) =>
    body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((each) => each.spans)),
  );

test("a span arrives under its parent, with its request's id and its outcome", async () => {
  start({ OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer t, x-tenant=a=b" });
  const parent = childTraceparent();
  const context = { requestId: "req_1", orgId: "org_1", traceparent: childTraceparent(parent) };
  beginSpan("server")!.end({
    name: "/wonrail.ledger.v1.LedgerService/Post",
    context,
    parent,
    failure: "NOT_FOUND",
  });
  await tracing!.close();
  expect(received).toMatchObject([
    { url: "/v1/traces", headers: { authorization: "Bearer t", "x-tenant": "a=b" } },
  ]);
  expect(received[0]!.body.resourceSpans[0]!.resource).toEqual({
    attributes: [{ key: "service.name", value: { stringValue: "ledger" } }],
  });
  const [span] = spans();
  expect(span).toMatchObject({
    traceId: traceIdOf(parent),
    spanId: context.traceparent.slice(36, 52),
    parentSpanId: parent.slice(36, 52),
    name: "wonrail.ledger.v1.LedgerService/Post",
    kind: 2,
    attributes: [
      { key: "wonrail.request_id", value: { stringValue: "req_1" } },
      { key: "wonrail.org_id", value: { stringValue: "org_1" } },
    ],
    status: { code: 2, message: "NOT_FOUND" },
  });
  const [from, to] = [BigInt(span!.startTimeUnixNano as string), BigInt(span!.endTimeUnixNano as string)];
  expect(Math.abs(Number(from / 1_000_000n) - Date.now())).toBeLessThan(10_000);
  expect(to).toBeGreaterThanOrEqual(from);
});

test("percent-encoded header names and values are decoded, and malformed ones stay unchanged", async () => {
  start({ OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Basic%20dXNlcg%3D%3D, x%2Dtenant=a%2Cb,x-share=100%" });
  const context = { requestId: "req_1", traceparent: childTraceparent() };
  beginSpan("server")!.end({ name: "s", context, parent: undefined });
  await tracing!.close();
  expect(received[0]!.headers).toMatchObject({
    authorization: "Basic dXNlcg==",
    "x-tenant": "a,b",
    "x-share": "100%",
  });
});

test("a span without a parent, or with one of another trace, starts its trace", async () => {
  start();
  for (const parent of [undefined, childTraceparent()])
    beginSpan("consumer")!.end({
      name: "key_revoked",
      context: { requestId: "r", traceparent: childTraceparent() },
      parent,
    });
  await tracing!.close();
  expect(spans().map((span) => [span.parentSpanId, span.kind, span.status])).toEqual([
    [undefined, 5, {}],
    [undefined, 5, {}],
  ]);
});

test("a share of the traces is recorded, and every process records the same ones", async () => {
  start({ OTEL_TRACES_SAMPLER_ARG: 0.25 });
  const traces = Array.from({ length: 400 }, () => childTraceparent());
  for (const trace of traces)
    for (let hop = 0; hop < 2; hop += 1)
      beginSpan("server")!.end({
        name: "s",
        context: { requestId: "r", traceparent: childTraceparent(trace) },
        parent: trace,
      });
  await tracing!.close();
  const recorded = new Set(spans().map(({ traceId }) => traceId));
  expect(recorded.size).toBeGreaterThan(50);
  expect(recorded.size).toBeLessThan(160);
  expect(spans()).toHaveLength(2 * recorded.size);
});

test("a refusing or absent collector costs only its spans", async () => {
  answer = 503;
  const lines: unknown[] = [];
  const log = testLog();
  log.warn = (fields: unknown) => lines.push(fields);
  start({}, log);
  const context = { requestId: "r", traceparent: childTraceparent() };
  for (let count = 0; count < 5_000; count += 1)
    beginSpan("server")!.end({ name: "s", context, parent: undefined });
  await eventually(() => void expect(lines).toHaveLength(1));
  expect(lines).toMatchObject([{ dropped: 5_000 }]);
});

test("nothing starts without an endpoint, and a span does nothing", () => {
  start({ OTEL_EXPORTER_OTLP_ENDPOINT: undefined });
  expect(tracing).toBeUndefined();
  expect(beginSpan("server")).toBeUndefined();
});
