import { createApiKey } from "@wonrail/kit/contract/apiKey";
import {
  createTestDatabase,
  eventually,
  type Proxy,
  startProxy,
  type TestDatabase,
} from "@wonrail/kit/testing";
import { countedRoute } from "./testing/countedRoute";
import { AUTH_MIGRATIONS, type RealAuth, startRealAuth } from "./testing/realAuth";
import { startGateway, type TestGateway } from "./testing/startGateway";

// Two gateways on one database, each with its own auth replica. A change at one must reach the
// other.

let database: TestDatabase;
let auths: [RealAuth, RealAuth];
let gateways: [TestGateway, TestGateway];
/** Proxy before the second auth replica, which returns on another port. */
let proxy: Proxy;
let organisations = 0;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: AUTH_MIGRATIONS });
  auths = await Promise.all([startRealAuth(database), startRealAuth(database)]);
  proxy = await startProxy({ target: { host: "127.0.0.1", port: auths[1].port } });
  const start = (authPort: number) =>
    startGateway({
      authPort,
      config: { TRUSTED_PROXY_HOPS: 1 },
      extraRoutes: [countedRoute("/test/wallets", "WALLETS", async () => ({ data: { done: true } }))],
    });
  gateways = await Promise.all([start(auths[0].port), start(proxy.port)]);
  await eventually(() => Promise.all(gateways.map((gateway) => gateway.ready())));
});

afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.close()));
  await Promise.all(auths.map((auth) => auth.stop()));
  await proxy.close();
  await database.drop();
});

function newOrganisation(terms: object = {}) {
  organisations += 1;
  const code = `ORG-${organisations}`;
  return auths[0].app.createOrganisation({
    name: "A bank",
    code,
    actor: "operator:test",
    ratePerSecond: 1_000,
    ...terms,
  });
}

const read = (gateway: TestGateway, key: string) => gateway.send("GET", "/test/probe", { key });
const codeOf = async (gateway: TestGateway, key: string) => (await read(gateway, key)).body.error?.code;

test("a key works at both gateways, and shows only its own organisation", async () => {
  const [mine, other] = [await newOrganisation(), await newOrganisation()];
  for (const gateway of gateways) {
    const { status, body } = await gateway.send("GET", "/api/wallet-auth/session", { key: mine.apiKey });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      organisation: { orgId: mine.organisation.orgId, orgCode: mine.organisation.code },
    });
    expect(JSON.stringify(body)).not.toContain(other.organisation.orgId);
    const wrongCode = { key: mine.apiKey, headers: { "X-Org-Code": other.organisation.code } };
    expect((await gateway.send("GET", "/api/wallet-auth/session", wrongCode)).body.error?.code).toBe(
      "WAUTH_001",
    );
  }
});

test("a refreshed key works at once at both gateways, beside the old one", async () => {
  const { apiKey, secretKey } = await newOrganisation();
  const { status, body } = await gateways[0].send("POST", "/api/wallet-auth/refresh", {
    body: { apiKey, secretKey },
  });
  expect(status).toBe(200);
  const newApiKey = body.data!.newApiKey as string;
  for (const gateway of gateways) {
    expect((await read(gateway, apiKey)).status).toBe(200);
    expect((await read(gateway, newApiKey)).status).toBe(200);
  }
  const again = await gateways[1].send("POST", "/api/wallet-auth/refresh", { body: { apiKey, secretKey } });
  expect(again.body.data).toEqual(body.data);
});

test("refresh with another organisation's secret is refused as any wrong credential", async () => {
  const [mine, other] = [await newOrganisation(), await newOrganisation()];
  const body = { apiKey: mine.apiKey, secretKey: other.secretKey };
  const { status, body: answer } = await gateways[0].send("POST", "/api/wallet-auth/refresh", { body });
  expect([status, answer.error?.code]).toEqual([401, "WAUTH_001"]);
});

test("a key revoked at one gateway is soon refused at the other, and cannot be refreshed", async () => {
  const { apiKey, secretKey } = await newOrganisation();
  expect((await read(gateways[1], apiKey)).status).toBe(200);
  const { status } = await gateways[0].send("DELETE", "/api/wallet-auth/api-key", { key: apiKey });
  expect(status).toBe(200);
  expect(await codeOf(gateways[0], apiKey)).toBe("WAUTH_001");
  await eventually(async () => expect(await codeOf(gateways[1], apiKey)).toBe("WAUTH_001"));
  const refresh = await gateways[1].send("POST", "/api/wallet-auth/refresh", { body: { apiKey, secretKey } });
  expect(refresh.body.error?.code).toBe("WAUTH_001");
});

test("a key issues a smaller key, which works at both gateways until it is revoked", async () => {
  const { apiKey } = await newOrganisation();
  const body = { name: "reader", scopes: ["wallets:read"] };
  const headers = { "Idempotency-Key": "reader 1" };
  const issue = () => gateways[0].send("POST", "/api/wallet-auth/keys", { key: apiKey, body, headers });
  const first = await issue();
  expect([first.status, first.body.data]).toMatchObject([201, { ...body, status: "CURRENT" }]);
  const { keyId, apiKey: reader } = first.body.data as { keyId: string; apiKey: string };
  const again = await issue();
  expect(again.headers["idempotent-replayed"]).toBe("true");
  expect(again.body.data).toEqual({ ...first.body.data, apiKey: null });

  for (const gateway of gateways) {
    expect((await read(gateway, reader)).status).toBe(200);
    const { body: refused } = await gateway.send("GET", "/api/wallet-auth/keys", { key: reader });
    expect(refused.error).toMatchObject({ code: "WAUTH_005", details: { scope: "keys:manage" } });
  }
  const { status } = await gateways[1].send("DELETE", `/api/wallet-auth/keys/${keyId}`, { key: apiKey });
  expect(status).toBe(200);
  expect(await codeOf(gateways[1], reader)).toBe("WAUTH_001");
  await eventually(async () => expect(await codeOf(gateways[0], reader)).toBe("WAUTH_001"));
});

test("a suspended organisation soon gets WAUTH_003 on every route but its session", async () => {
  const { apiKey, organisation } = await newOrganisation();
  expect((await read(gateways[1], apiKey)).status).toBe(200);
  await auths[0].app.setOrganisation({
    code: organisation.code,
    change: { status: "SUSPENDED" },
    actor: "operator:test",
  });
  await eventually(async () => expect(await codeOf(gateways[1], apiKey)).toBe("WAUTH_003"));
  const session = await gateways[1].send("GET", "/api/wallet-auth/session", { key: apiKey });
  expect(session.body.data).toMatchObject({
    organisation: { status: "SUSPENDED" },
    subscription: { active: false },
  });
});

test.each([
  ["Basic dTpw", 200],
  ["Bearer a b", 401],
])("a key beside the Authorization header %s answers %i", async (Authorization, expected) => {
  const { apiKey: key } = await newOrganisation({});
  const answer = await gateways[0].send("GET", "/api/wallet-auth/session", {
    key,
    headers: { Authorization },
  });
  expect(answer.status).toBe(expected);
});

test("an ended subscription answers WAUTH_003, and its key can still be revoked", async () => {
  const { apiKey } = await newOrganisation({
    subscriptionStartsAt: new Date("2020-01-01"),
    subscriptionEndsAt: new Date("2021-01-01"),
  });
  expect(await codeOf(gateways[0], apiKey)).toBe("WAUTH_003");
  const { status } = await gateways[0].send("DELETE", "/api/wallet-auth/api-key", { key: apiKey });
  expect(status).toBe(200);
  await eventually(async () => expect(await codeOf(gateways[1], apiKey)).toBe("WAUTH_001"));
});

test("two gateways together keep an organisation's rate, and answer Retry-After", async () => {
  const { apiKey } = await newOrganisation({ ratePerSecond: 20, rateBurst: 20 });
  const started = performance.now();
  let [passed, refusals] = [0, 0];
  // Sends more requests at a time than the refill, also when answers are slow.
  const times = Array.from({ length: 20 });
  for (let round = 0; round < 100 && (passed <= 20 || refusals === 0); round += 1) {
    const answers = await Promise.all(gateways.flatMap((gateway) => times.map(() => read(gateway, apiKey))));
    passed += answers.filter(({ status }) => status === 200).length;
    const refused = answers.find(({ status }) => status === 429);
    if (refused) {
      refusals += 1;
      expect(refused.body.error?.code).toBe("RATE_001");
      expect(Number(refused.headers["retry-after"])).toBeGreaterThanOrEqual(1);
      expect(refused.headers).toMatchObject({ "ratelimit-limit": "20", "ratelimit-remaining": "0" });
    }
  }
  const seconds = (performance.now() - started) / 1_000;
  expect(passed).toBeLessThanOrEqual(20 + 20 * (seconds + 1));
  expect(passed).toBeGreaterThan(20);
  expect(refusals).toBeGreaterThan(0);
});

test("a quota of a hundred wallets admits exactly a hundred, however the requests are spread", async () => {
  const { apiKey } = await newOrganisation({ plan: "FREE", ratePerSecond: 1_000 });
  // SYS_002 means not executed, so the client retries.
  const post = async (gateway: TestGateway) => {
    for (;;) {
      const reply = await gateway.send("POST", "/test/wallets", { key: apiKey, body: { amount: 1 } });
      if (reply.status !== 503) return reply;
    }
  };
  const answers: number[] = [];
  for (let round = 0; round < 14; round += 1) {
    const replies = await Promise.all(Array.from({ length: 10 }, (_, i) => post(gateways[i % 2]!)));
    answers.push(...replies.map(({ status }) => status));
  }
  expect(answers.filter((status) => status === 201)).toHaveLength(100);
  expect(answers.filter((status) => status === 403)).toHaveLength(40);
  const { body } = await post(gateways[0]);
  expect(body.error).toMatchObject({
    code: "WAUTH_004",
    details: { quota: "WALLETS", limit: 100, resetsAt: null },
  });
});

test("an address that guesses keys is limited, and a valid key from it passes", async () => {
  const headers = { "X-Forwarded-For": "198.51.100.7" };
  const codes: (string | undefined)[] = [];
  for (let guess = 0; guess < 60 && codes.at(-1) !== "RATE_001"; guess += 1) {
    const { body } = await gateways[guess % 2]!.send("GET", "/test/probe", {
      key: createApiKey("test").text,
      headers,
    });
    codes.push(body.error?.code);
  }
  expect(codes.filter((code) => code === "WAUTH_001").length).toBeLessThanOrEqual(21);
  expect(codes.length).toBeGreaterThan(10);
  expect(codes.at(-1)).toBe("RATE_001");
  const { apiKey } = await newOrganisation();
  expect((await gateways[0].send("GET", "/test/probe", { key: apiKey, headers })).status).toBe(200);
});

test("a gateway serves known keys while its auth replica is away, and receives changes after its return", async () => {
  const { apiKey } = await newOrganisation();
  expect((await read(gateways[1], apiKey)).status).toBe(200);
  await auths[1].stop();
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect((await read(gateways[1], apiKey)).status).toBe(200);
  await gateways[0].send("DELETE", "/api/wallet-auth/api-key", { key: apiKey });
  auths[1] = await startRealAuth(database);
  proxy.setTarget({ host: "127.0.0.1", port: auths[1].port });
  await eventually(async () => expect(await codeOf(gateways[1], apiKey)).toBe("WAUTH_001"));
});
