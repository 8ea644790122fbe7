import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { DomainError, type ErrorCode } from "@wonrail/kit/contract/errors";
import { eventually, testLog } from "@wonrail/kit/testing";
import { startTracing } from "@wonrail/kit/tracing";
import { type FakeAuthServer, startFakeAuthServer } from "./testing/fakeAuthServer";
import { countedRoute } from "./testing/countedRoute";
import { startGateway } from "./testing/startGateway";

interface Export {
  resourceSpans: { scopeSpans: { spans: { name: string; status: object }[] }[] }[];
}

let auth: FakeAuthServer;
const received: Export[] = [];
const collector = createServer((req, res) => {
  void json(req).then((body) => {
    received.push(body as Export);
    res.end("{}");
  });
});

beforeAll(async () => {
  auth = await startFakeAuthServer();
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
});

afterAll(async () => {
  await auth.close();
  collector.closeAllConnections();
  await new Promise((resolve) => collector.close(resolve));
});

test("a span is an error for a fault, and not for a refusal", async () => {
  let code: ErrorCode = "SYS_001";
  const work = async () => {
    throw new DomainError(code);
  };
  const gateway = await startGateway({
    authPort: auth.port,
    extraRoutes: [countedRoute("/test/counted", undefined, work)],
  });
  await eventually(() => gateway.ready());
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const config = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: 1 };
  const tracing = startTracing(config, { service: "gateway", log: testLog() })!;
  const { text: key } = auth.addKey();
  for (code of ["SYS_001", "SYS_003", "PAY_001", "RATE_001"] as const) {
    await gateway.send("POST", "/test/counted", { key, body: { amount: 1 } });
  }
  await gateway.close();
  await tracing.close();
  const spans = received.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  );
  const ours = spans.filter(({ name }) => name === "POST /test/counted");
  expect(ours.map(({ status }) => status)).toEqual([
    { code: 2, message: "SYS_001" },
    { code: 2, message: "SYS_003" },
    {},
    {},
  ]);
});
