import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { Server } from "node:net";
import { json } from "node:stream/consumers";
import { DomainError } from "@wonrail/kit/contract/errors";
import { eventually } from "@wonrail/kit/testing";
import { type Call, type Reply } from "./routes/operation";
import { type FakeAuthServer, startFakeAuthServer } from "./testing/fakeAuthServer";
import { countedRoute } from "./testing/countedRoute";
import { startGateway, type TestGateway } from "./testing/startGateway";

type Answer = Awaited<ReturnType<TestGateway["send"]>>;

let auth: FakeAuthServer;
let gateway: TestGateway;
/** Handler of the counted route, set by each test. */
let work: (call: Call) => Promise<Reply<{ done: boolean }>>;

beforeAll(async () => {
  auth = await startFakeAuthServer();
  const extraRoutes = [countedRoute("/test/counted", "MONEY_OPERATIONS", (call) => work(call))];
  gateway = await startGateway({ authPort: auth.port, extraRoutes });
  await eventually(() => gateway.ready());
});

afterAll(async () => {
  await gateway.close();
  await auth.close();
});

beforeEach(() => {
  work = async () => ({ data: { done: true } });
  Object.assign(auth.state, { quotaLeft: 1_000, delayMs: 0 });
});

describe("limits", () => {
  test("every answer to an organisation carries the rest of its rate", async () => {
    const { text } = auth.addKey();
    const { headers } = await gateway.send("GET", "/test/probe", { key: text });
    expect(headers).toMatchObject({
      "ratelimit-limit": "10000",
      "ratelimit-remaining": expect.any(String),
      "ratelimit-reset": "1",
    });
  });

  test("a refusal by address answers the limit of the address, with nothing remaining", async () => {
    const refused = await untilRefused(() => gateway.send("POST", "/api/wallet-auth/refresh", { body: {} }));
    expect(refused.body.error?.code).toBe("RATE_001");
    expect(refused.headers).toMatchObject({
      "ratelimit-limit": "100",
      "ratelimit-remaining": "0",
      "ratelimit-reset": "5",
      "retry-after": "1",
    });
  });

  test("an exhausted quota answers WAUTH_004 with limit, use and reset time", async () => {
    const { text } = auth.addKey();
    auth.state.quotaLeft = 2;
    const post = () => gateway.send("POST", "/test/counted", { key: text, body: { amount: 1 } });
    expect([(await post()).status, (await post()).status]).toEqual([201, 201]);
    const { status, body } = await post();
    expect([status, body.error?.code]).toEqual([403, "WAUTH_004"]);
    expect(body.error?.details).toEqual({
      quota: "MONEY_OPERATIONS",
      limit: 1_000,
      used: 1_000,
      resetsAt: expect.any(String),
    });
  });

  test("refusals and replays cost no quota", async () => {
    const { text } = auth.addKey();
    auth.state.quotaLeft = 1;
    const post = () => gateway.send("POST", "/test/counted", { key: text, body: { amount: 1 } });
    work = async () => {
      throw new DomainError("PAY_001");
    };
    expect((await post()).body.error?.code).toBe("PAY_001");
    work = async () => ({ data: { done: true }, replayed: true });
    const replay = await post();
    expect([replay.status, replay.headers["idempotent-replayed"]]).toEqual([201, "true"]);
    work = async () => ({ data: { done: true } });
    expect((await post()).status).toBe(201);
    expect((await post()).body.error?.code).toBe("WAUTH_004");
  });

  test("stored answers are replayed after the quota is used up, and new requests are refused", async () => {
    const { text } = auth.addKey();
    auth.state.quotaLeft = 1;
    const done = new Set<string>();
    work = async ({ idempotencyKey, repeatOnly }) => {
      if (repeatOnly && !done.has(idempotencyKey!)) throw new DomainError("WAUTH_004");
      const replayed = done.has(idempotencyKey!);
      done.add(idempotencyKey!);
      return { data: { done: true }, replayed };
    };
    const post = async (name?: string) => {
      const headers = name === undefined ? {} : { "idempotency-key": name };
      const answer = await gateway.send("POST", "/test/counted", { key: text, headers, body: { amount: 1 } });
      return [answer.status, answer.headers["idempotent-replayed"], answer.body.error?.details?.limit];
    };
    expect(await post("first")).toEqual([201, undefined, undefined]);
    expect(await post("first")).toEqual([201, "true", undefined]);
    expect(await post("second")).toEqual([403, undefined, 1_000]);
    expect(await post()).toEqual([403, undefined, 1_000]);
    expect([...done]).toEqual(["first"]);
  });

  test("a retryable refusal carries Retry-After", async () => {
    const { text } = auth.addKey();
    work = async () => {
      throw new DomainError("REQ_002", { retryAfterMs: 2_400 });
    };
    const { status, headers } = await gateway.send("POST", "/test/counted", {
      key: text,
      body: { amount: 1 },
    });
    expect([status, headers["retry-after"]]).toEqual([409, "3"]);
  });
});

/** Sends 100 requests at a time, so that a slow machine exhausts the limit too. */
async function untilRefused(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answers = await Promise.all(Array.from({ length: 100 }, send));
    const refused = answers.find(({ status }) => status === 429);
    if (refused) return refused;
  }
}

test("a hanging replica of auth is passed over for a quota lease", async () => {
  const { text } = auth.addKey();
  const route = countedRoute("/test/counted", "MONEY_OPERATIONS", (call) => work(call));
  const other = await startGateway({ authPort: auth.port, authTimeoutMs: 500, extraRoutes: [route] });
  const send = () => other.send("POST", "/test/counted", { key: text, body: { amount: 1 } });
  expect((await send()).status).toBe(201);
  const before = auth.calls.leaseQuota!;
  auth.state.delayMs = 10_000;
  const asked = send();
  await eventually(() => expect(auth.calls.leaseQuota).toBe(before + 1));
  auth.state.delayMs = 0;
  expect((await asked).status).toBe(201);
  await other.close();
});

test("a body that arrives after the deadline answers SYS_002 and is not executed", async () => {
  const { text } = auth.addKey();
  const route = countedRoute("/test/late", undefined, (call) => work(call));
  const config = { REQUEST_BUDGET_MS: 1_000 };
  const other = await startGateway({ authPort: auth.port, extraRoutes: [route], config });
  work = jest.fn(work);
  const late = request({
    port: other.port,
    method: "POST",
    path: "/test/late",
    // Node's server answers 100 when the request starts, so the pause below starts after it.
    headers: {
      "X-API-Key": text,
      "Content-Type": "application/json",
      "Content-Length": 12,
      Expect: "100-continue",
    },
  });
  const answered = once(late, "response") as Promise<[IncomingMessage]>;
  late.flushHeaders();
  await once(late, "continue");
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  late.end('{"amount":1}');
  const [response] = await answered;
  expect([response.statusCode, await json(response)]).toMatchObject([503, { error: { code: "SYS_002" } }]);
  expect(work).not.toHaveBeenCalled();
  await other.close();
});

test("each failed accept is logged, and the next connection is answered", async () => {
  const listening = jest.spyOn(Server.prototype, "listen");
  const other = await startGateway({ authPort: auth.port });
  const server = listening.mock.contexts.at(-1) as Server;
  listening.mockRestore();
  for (let i = 0; i < 3; i += 1) server.emit("error", new Error("accept EMFILE"));
  expect(other.lines.filter((line) => line.includes("accept EMFILE"))).toHaveLength(3);
  expect((await other.send("GET", "/healthz")).status).toBe(200);
  await other.close();
});
