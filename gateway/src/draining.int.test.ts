import { eventually } from "@wonrail/kit/testing";
import { type Reply } from "./routes/operation";
import { type FakeAuthServer, startFakeAuthServer } from "./testing/fakeAuthServer";
import { countedRoute } from "./testing/countedRoute";
import { startGateway, type TestGateway } from "./testing/startGateway";

let auth: FakeAuthServer;
let gateway: TestGateway;
/** Handler of the counted test route, set by each test. */
let work: () => Promise<Reply<{ done: boolean }>>;

beforeAll(async () => {
  auth = await startFakeAuthServer();
});
afterAll(() => auth.close());
beforeEach(async () => {
  gateway = await startGateway({
    authPort: auth.port,
    extraRoutes: [countedRoute("/test/counted", "MONEY_OPERATIONS", () => work())],
  });
  await eventually(() => gateway.ready());
});
// Most tests have closed the gateway already.
afterEach(() => gateway.close().catch(() => undefined));

test("draining answers running requests and closes each connection after its answer", async () => {
  const { text } = auth.addKey();
  let release: () => void = () => undefined;
  let begin: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  work = () => {
    begin();
    return new Promise((resolve) => (release = () => resolve({ data: { done: true } })));
  };
  const slow = gateway.send("POST", "/test/counted", {
    key: text,
    body: { amount: 1 },
    headers: { Connection: "keep-alive" },
  });
  await begun;
  const drained = gateway.drain(20_000);
  await expect(gateway.send("GET", "/healthz")).rejects.toThrow("ECONNREFUSED");
  release();
  const { status, headers } = await slow;
  expect([status, headers.connection]).toEqual([201, "close"]);
  await drained;
});

test("draining cuts off requests that outlast its grace", async () => {
  const { text } = auth.addKey();
  let begin: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  work = () => {
    begin();
    return new Promise(() => undefined);
  };
  const left = expect(
    gateway.send("POST", "/test/counted", { key: text, body: { amount: 1 } }),
  ).rejects.toThrow("socket hang up");
  await begun;
  await gateway.drain(100);
  await left;
});
