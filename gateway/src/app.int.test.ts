import { IncomingMessage, ServerResponse } from "node:http";
import { createSecretKey } from "@wonrail/kit/contract/apiKey";
import { DomainError, errorTable } from "@wonrail/kit/contract/errors";
import { isId } from "@wonrail/kit/contract/ids";
import { eventually } from "@wonrail/kit/testing";
import { z } from "zod";
import { KeyAccess } from "@wonrail/proto/auth/v1/auth";
import { operation, type Reply, route, type Route } from "./routes/operation";
import { type FakeAuthServer, startFakeAuthServer } from "./testing/fakeAuthServer";
import { countedRoute } from "./testing/countedRoute";
import { type SendOptions, startGateway, type TestGateway } from "./testing/startGateway";

let auth: FakeAuthServer;
let gateway: TestGateway;
/** Handler of the counted test route, set by each test. */
let work: () => Promise<Reply<{ done: boolean }>>;

/** Tagged like a probe, but limited. */
const openTest = operation({
  id: "openTest",
  tag: "Service",
  summary: "For tests",
  access: "anyone",
  status: 200,
  data: z.strictObject({ done: z.literal(true) }),
  errors: [],
});

const extraRoutes: Route[] = [
  route("GET", "/test/open", openTest, async () => ({ data: { done: true as const } })),
  countedRoute("/test/counted", "MONEY_OPERATIONS", () => work()),
  countedRoute("/test/broken", undefined, async () => {
    throw new Error('relation "secret_table" does not exist at /srv/app/store.ts:7');
  }),
  countedRoute("/test/wrong-answer", undefined, async () => ({
    data: { done: "yes" as unknown as boolean },
  })),
];

beforeAll(async () => {
  auth = await startFakeAuthServer();
  gateway = await startGateway({ authPort: auth.port, extraRoutes });
  await eventually(() => gateway.ready());
});

afterAll(async () => {
  await gateway.close();
  await auth.close();
});

beforeEach(() => {
  work = async () => ({ data: { done: true } });
  Object.assign(auth.state, { delayMs: 0, failWith: undefined, quotaLeft: 1_000 });
});

test("the gateway keeps the prototypes of requests and responses, because a change slows all access", async () => {
  const changed: string[] = [];
  let looked = 0;
  const setPrototypeOf = Object.setPrototypeOf.bind(Object);
  const spy = jest.spyOn(Object, "setPrototypeOf").mockImplementation((target: object, prototype) => {
    if (target instanceof IncomingMessage || target instanceof ServerResponse) {
      looked += 1;
      if (Object.getPrototypeOf(target) !== prototype) changed.push(target.constructor.name);
    }
    return setPrototypeOf(target, prototype) as unknown;
  });
  await gateway.send("GET", "/healthz");
  spy.mockRestore();
  expect([looked, changed]).toEqual([2, []]);
});

describe("the response envelope", () => {
  test("wraps a success", async () => {
    const { status, body, headers } = await gateway.send("GET", "/healthz");
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      data: { status: "ok" },
      error: null,
      requestId: expect.stringMatching(/^req_[0-9a-f]{32}$/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(headers["x-request-id"]).toBe(body.requestId);
  });

  test("wraps a refusal with the message of the error table", async () => {
    const { status, body } = await gateway.send("GET", "/nothing/here?a=secret");
    expect(status).toBe(404);
    expect(body).toMatchObject({
      success: false,
      data: null,
      error: {
        code: "REQ_004",
        message: errorTable.REQ_004.message,
        details: { method: "GET", path: "/nothing/here" },
      },
    });
  });

  test.each(["events", "webhooks", "wallets", "wallets/charge/refund", "events/stream"])(
    "refuses /api/%s/ as an unknown route, because it ends with a slash",
    async (path) => {
      const { status, body } = await gateway.send("GET", `/api/${path}/`);
      expect([status, body.error?.code]).toEqual([404, "REQ_004"]);
    },
  );

  test("carries a valid request id of the caller, and a new id otherwise", async () => {
    const given = await gateway.send("GET", "/healthz", { headers: { "X-Request-Id": "order-7.try:2" } });
    expect(given.body.requestId).toBe("order-7.try:2");
    expect(given.headers["x-request-id"]).toBe("order-7.try:2");
    for (const bad of ["a b", '"', "x".repeat(129), "<script>"]) {
      const { body } = await gateway.send("GET", "/healthz", { headers: { "X-Request-Id": bad } });
      expect(isId("req", body.requestId)).toBe(true);
    }
  });

  test("answers another method of a known path with REQ_005 and the allowed methods", async () => {
    const { status, body, headers } = await gateway.send("DELETE", "/api/wallets/payment");
    expect([status, body.error?.code, headers.allow]).toEqual([405, "REQ_005", "POST, GET, HEAD"]);
    expect((await gateway.send("PUT", "/api/docs/")).headers.allow).toBe("GET, HEAD");
  });

  test("hides an internal error from the caller and logs it once with the request id", async () => {
    const { text } = auth.addKey();
    const {
      status,
      text: answer,
      body,
    } = await gateway.send("POST", "/test/broken", { key: text, body: { amount: 1 } });
    expect([status, body.error?.code, body.error?.details]).toEqual([500, "SYS_001", null]);
    expect(answer).not.toMatch(/secret_table|store\.ts|Error/);
    const logged = gateway.lines.filter((line) => line.includes("secret_table"));
    expect(logged).toHaveLength(1);
    expect(JSON.parse(logged[0]!)).toMatchObject({ level: "error", requestId: body.requestId });
  });

  test("an answer that violates the response schema is a 500", async () => {
    const { text } = auth.addKey();
    const { status } = await gateway.send("POST", "/test/wrong-answer", { key: text, body: { amount: 1 } });
    expect(status).toBe(500);
  });
});

describe("a key", () => {
  test.each(["X-API-Key", "Authorization"])("in %s opens a route", async (header) => {
    const { text, orgId } = auth.addKey();
    const headers = { [header]: header === "Authorization" ? `Bearer ${text}` : text };
    const { status, body } = await gateway.send("GET", "/test/probe", { headers });
    expect([status, body.data]).toEqual([200, { orgId }]);
  });

  test("that is wrong or unknown answers WAUTH_001 without details", async () => {
    const { text } = auth.addKey();
    const wrong = `${text.slice(0, 20)}00000000000000000000000000000000000000`;
    const unknown = "wk_test_000000000000_00000000000000000000000000000000000000";
    for (const key of [wrong, unknown]) {
      const { status, body, headers } = await gateway.send("GET", "/test/probe", { key });
      expect([status, body.error]).toEqual([
        401,
        { code: "WAUTH_001", message: expect.any(String), details: null },
      ]);
      expect(headers["www-authenticate"]).toBe('Bearer realm="wonrail"');
    }
  });

  test.each<[string, (text: string) => SendOptions]>([
    ["no_key_sent", () => ({})],
    ["no_key_sent", () => ({ headers: { Authorization: "Basic dXNlcjpwYXNz" } })],
    ["secret_key_sent", () => ({ key: createSecretKey("test").text })],
    ["wrong_org_code", (text) => ({ key: text, headers: { "X-Org-Code": "OTHER" } })],
    ["two_keys_sent", (text) => ({ key: text, headers: { Authorization: "Bearer other" } })],
  ])("with a mistake that the caller can see answers WAUTH_001 with reason %s", async (reason, options) => {
    const { text } = auth.addKey();
    const { status, body } = await gateway.send("GET", "/test/probe", options(text));
    expect([status, body.error]).toMatchObject([401, { code: "WAUTH_001", details: { reason } }]);
  });

  test.each(["X-API-Key: ", "Authorization: Bearer ", "Authorization: Basic "])(
    "beside a second key is refused in either order: %s",
    async (header) => {
      const [{ text: one }, { text: other }] = [auth.addKey(), auth.addKey()];
      const ask = (...lines: string[]) =>
        gateway.raw(
          ["GET /test/probe HTTP/1.1", "Host: x", "Connection: close", ...lines, "", ""].join("\r\n"),
        );
      const bearer = (key: string) => `Authorization: Bearer ${key}`;
      const second = header.startsWith("X") ? `X-API-Key: ${other}` : bearer(other);
      expect((await ask(`${header}${one}`, second)).status).toBe(401);
      expect((await ask(second, `${header}${one}`)).status).toBe(401);
      expect((await ask(bearer(one))).status).toBe(200);
    },
  );

  test("with the code of its own organisation is accepted", async () => {
    const { text, orgCode } = auth.addKey();
    const { status } = await gateway.send("GET", "/test/probe", {
      key: text,
      headers: { "X-Org-Code": orgCode },
    });
    expect(status).toBe(200);
  });

  test("with an expired key every route answers WAUTH_002", async () => {
    const { text } = auth.addKey({ access: KeyAccess.REFRESH, refusal: new DomainError("WAUTH_002") });
    for (const path of ["/test/probe", "/api/wallet-auth/session"]) {
      const { status, body } = await gateway.send("GET", path, { key: text });
      expect([status, body.error?.code]).toEqual([401, "WAUTH_002"]);
    }
  });

  test("of an expired subscription opens only the session and its own revocation; other routes answer WAUTH_003", async () => {
    const { text } = auth.addKey({ access: KeyAccess.SESSION, refusal: new DomainError("WAUTH_003") });
    const { status, body } = await gateway.send("GET", "/test/probe", { key: text });
    expect([status, body.error?.code]).toEqual([403, "WAUTH_003"]);
    const session = await gateway.send("GET", "/api/wallet-auth/session", { key: text });
    expect([session.status, session.body.data?.subscription]).toEqual([
      200,
      expect.objectContaining({ active: false }),
    ]);
    expect((await gateway.send("DELETE", "/api/wallet-auth/api-key", { key: text })).status).toBe(200);
    const { body: afterwards } = await gateway.send("GET", "/api/wallet-auth/session", { key: text });
    expect(afterwards.error?.code).toBe("WAUTH_001");
  });

  test("with an access level of a newer release opens no route", async () => {
    const { text } = auth.addKey({ access: KeyAccess.UNRECOGNIZED });
    const { status, body } = await gateway.send("GET", "/test/probe", { key: text });
    expect([status, body.error?.code]).toEqual([401, "WAUTH_001"]);
  });

  test("in use causes look-ups in the background only", async () => {
    const { text } = auth.addKey();
    await gateway.send("GET", "/test/probe", { key: text });
    const [before, started] = [auth.calls.resolveKey!, performance.now()];
    for (let i = 0; i < 50; i += 1) await gateway.send("GET", "/test/probe", { key: text });
    // In the background, twice a second.
    const wanted = 2 + (performance.now() - started) / 500;
    expect(auth.calls.resolveKey! - before).toBeLessThanOrEqual(wanted);
  });

  test("is never logged", async () => {
    const { text } = auth.addKey();
    await gateway.send("GET", "/test/probe", { key: text });
    await gateway.send("POST", "/api/wallet-auth/refresh", {
      body: { apiKey: text, secretKey: "sk_test_nonsense" },
    });
    expect(gateway.lines.join("")).not.toContain(text.slice(21));
  });
});

describe("the organisation's own routes", () => {
  test("refresh gives a new key for the credentials in the body", async () => {
    const { text } = auth.addKey();
    const secretKey = createSecretKey("test").text;
    const { status, body } = await gateway.send("POST", "/api/wallet-auth/refresh", {
      body: { apiKey: text, secretKey },
    });
    expect(status).toBe(200);
    expect(body.data).toEqual({
      newApiKey: expect.stringMatching(/^wk_test_/),
      expiresAt: expect.any(String),
    });
    const { status: next } = await gateway.send("GET", "/test/probe", {
      key: body.data!.newApiKey as string,
    });
    expect(next).toBe(200);
  });

  test("refresh refuses malformed credentials like wrong ones, without a call to auth", async () => {
    const { text } = auth.addKey();
    const before = auth.calls.refreshKey ?? 0;
    for (const body of [
      { apiKey: text, secretKey: "sk_test_typo" },
      { apiKey: "typo", secretKey: createSecretKey("test").text },
    ]) {
      const { status, body: answer } = await gateway.send("POST", "/api/wallet-auth/refresh", { body });
      expect([status, answer.error?.code]).toEqual([401, "WAUTH_001"]);
    }
    expect(auth.calls.refreshKey ?? 0).toBe(before);
  });

  test("revoke takes effect from the next request on", async () => {
    const { text } = auth.addKey();
    const { status, body } = await gateway.send("DELETE", "/api/wallet-auth/api-key", { key: text });
    expect([status, body.data]).toEqual([200, { revoked: true, revokedAt: expect.any(String) }]);
    expect((await gateway.send("GET", "/test/probe", { key: text })).body.error?.code).toBe("WAUTH_001");
  });

  test("a pushed revocation ends the cached look-up of the key", async () => {
    const { text, orgId, keyId } = auth.addKey();
    const status = async () => (await gateway.send("GET", "/test/probe", { key: text })).status;
    expect(await status()).toBe(200);
    await eventually(() => expect(auth.watched()).toBe(true));
    // From here on the key is served from memory until a pushed change.
    auth.state.failWith = new DomainError("SYS_002");
    expect(await status()).toBe(200);
    for (const [hash, known] of auth.keys) if (known.keyId === keyId) auth.keys.delete(hash);
    auth.push({ change: { $case: "keyRevoked", value: { orgId, keyId, keyPrefix: "" } } });
    await eventually(async () => expect(await status()).toBe(503));
    auth.state.failWith = undefined;
    await eventually(async () => expect(await status()).toBe(401));
  });

  test("session shows organisation, key, plan, rate limit and usage", async () => {
    const key = auth.addKey();
    const { status, body } = await gateway.send("GET", "/api/wallet-auth/session", { key: key.text });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      organisation: {
        orgId: key.orgId,
        orgCode: key.orgCode,
        name: "Acme Bank",
        dailyTransferLimit: 5_000_000,
      },
      key: { keyId: key.keyId, overlapEndsAt: null },
      plan: "STANDARD",
      rateLimit: { perSecond: 100, burst: 200 },
      usage: [{ quota: "WALLETS", limit: 1_000, used: 12, reserved: 3, resetsAt: null }],
    });
  });
});

describe("when auth", () => {
  test("answers with errors, a cached key still works and an unknown key gets SYS_002", async () => {
    const known = auth.addKey();
    const unknown = auth.addKey();
    await gateway.send("GET", "/test/probe", { key: known.text });
    auth.state.failWith = new DomainError("SYS_002");
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect((await gateway.send("GET", "/test/probe", { key: known.text })).status).toBe(200);
    const { status, body, headers } = await gateway.send("GET", "/test/probe", { key: unknown.text });
    expect([status, body.error?.code, headers["retry-after"]]).toEqual([503, "SYS_002", "1"]);
  });

  test("never answers, requests end at their deadline", async () => {
    const { text } = auth.addKey();
    const other = await startGateway({ authPort: auth.port, authTimeoutMs: 500 });
    auth.state.delayMs = 20_000;
    const started = Date.now();
    const { status, body } = await other.send("GET", "/test/probe", { key: text });
    expect(status).toBe(503);
    expect(Date.now() - started).toBeLessThan(15_000);
    const line = other.lines.find((each) => each.includes(body.requestId))!;
    expect((JSON.parse(line) as { cause: string }).cause).toMatch(/AuthService\/\w+: 4 DEADLINE_EXCEEDED/);
    await other.close();
  });
});

test("an operation that its service does not implement answers SYS_004", async () => {
  const { text } = auth.addKey();
  const { status, body } = await gateway.send("GET", "/api/wallets", { key: text });
  expect([status, body.error?.code]).toEqual([501, "SYS_004"]);
});

test("metrics are labelled with the route template, never with the path", async () => {
  const { text } = auth.addKey();
  await gateway.send("GET", "/api/wallets/wal_0192f0c1a2b37c4d8e5f60718293a4b5", { key: text });
  await gateway.send("GET", "/some/path/of/a/scanner");
  const metrics = await gateway.registry.metrics();
  expect(metrics).toContain(
    'http_requests_total{method="GET",route="/api/wallets/:walletId",status_class="5xx"} 1',
  );
  expect(metrics).toContain('route="none"');
  expect(metrics).not.toContain("0192f0c1");
  expect(metrics).not.toContain("scanner");
});

test("an operation without a key is limited by address unless its definition says that it is unlimited", async () => {
  const untilRefused = async (path: string) => {
    const sent = Array.from({ length: 150 }, () => gateway.send("GET", path));
    return (await Promise.all(sent)).some(({ status }) => status === 429);
  };
  expect(await untilRefused("/healthz")).toBe(false);
  let isLimited = false;
  for (let rounds = 0; rounds < 50 && !isLimited; rounds += 1) isLimited = await untilRefused("/test/open");
  expect(isLimited).toBe(true);
});
