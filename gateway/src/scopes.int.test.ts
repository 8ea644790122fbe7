import { SCOPES } from "@wonrail/kit/contract/scopes";
import { eventually } from "@wonrail/kit/testing";
import { routes, type RouteDeps } from "./routes";
import { type FakeAuthServer, type KnownKey, startFakeAuthServer } from "./testing/fakeAuthServer";
import { startGateway, type TestGateway } from "./testing/startGateway";

// The scopes of keys and their allow-lists, at every operation.

let auth: FakeAuthServer;
let gateway: TestGateway;
/** Stands behind two proxies. */
let proxied: TestGateway;

beforeAll(async () => {
  auth = await startFakeAuthServer();
  gateway = await startGateway({ authPort: auth.port });
  proxied = await startGateway({ authPort: auth.port, config: { TRUSTED_PROXY_HOPS: 2 } });
  await eventually(() => Promise.all([gateway.ready(), proxied.ready()]));
});

afterAll(async () => {
  await Promise.all([gateway.close(), proxied.close()]);
  await auth.close();
});

const keyed = routes({ clients: {}, principals: {} } as RouteDeps).filter(
  ({ operation }) => operation.access !== "anyone",
);
const scoped = keyed.filter(({ scope }) => scope !== null);

test.each([
  ...scoped.map(({ operation, method, path, scope }) => [operation.id, method, path, scope!] as const),
  ["the stream of events", "GET", "/api/events/stream", "events:read"] as const,
])("%s refuses a key with all scopes but its own", async (_id, method, path, scope) => {
  const key = auth.addKey({ scopes: SCOPES.filter((one) => one !== scope) });
  const before = changes();
  const { status, body } = await gateway.send(method, path.replace(/:\w+/g, "x"), { key: key.text });
  expect([status, body.error?.code, body.error?.details]).toEqual([403, "WAUTH_005", { scope }]);
  expect(changes()).toBe(before);
});

test.each(scoped.map(({ operation, method, path, scope }) => [operation.id, method, path, scope!] as const))(
  "%s accepts a key with its scope only",
  async (_id, method, path, scope) => {
    const key = auth.addKey({ scopes: [scope] });
    const { body } = await gateway.send(method, path.replace(/:\w+/g, "x"), { key: key.text });
    expect(body.error?.code).not.toMatch(/^WAUTH_00[1-6]$/);
  },
);

test("a key without scopes reads its session and revokes itself", async () => {
  const key = auth.addKey({ scopes: [] });
  expect((await gateway.send("GET", "/api/wallet-auth/session", { key: key.text })).status).toBe(200);
  expect((await gateway.send("DELETE", "/api/wallet-auth/api-key", { key: key.text })).status).toBe(200);
  expect(keyed.filter(({ scope }) => scope === null).map(({ operation }) => operation.id)).toEqual([
    ...["revokeKey", "getSession"],
  ]);
});

test("a scope of a later release gives nothing", async () => {
  const key = auth.addKey({ scopes: ["everything", "wallets:*"] });
  expect((await gateway.send("GET", "/api/wallets", { key: key.text })).body.error?.code).toBe("WAUTH_005");
});

describe("an allow-list", () => {
  const session = (target: TestGateway, key: KnownKey, forwardedFor?: string) =>
    target.send("GET", "/api/wallet-auth/session", {
      key: key.text,
      ...(forwardedFor === undefined ? {} : { headers: { "X-Forwarded-For": forwardedFor } }),
    });

  test.each([[["127.0.0.1"]], [["127.0.0.0/8"]], [["2001:db8::/32", "0.0.0.0/0"]]])(
    "%j contains the caller on this machine",
    async (allowedAddresses) => {
      expect((await session(gateway, auth.addKey({ allowedAddresses }))).status).toBe(200);
    },
  );

  test.each([[["127.0.0.2"]], [["10.0.0.0/8"]], [["::1"]], [["::/0"]]])(
    "%j refuses the caller on this machine, and the refusal names its address",
    async (allowedAddresses) => {
      const { status, body } = await session(gateway, auth.addKey({ allowedAddresses }));
      const { code, details } = body.error!;
      expect([status, code, details]).toEqual([403, "WAUTH_006", { address: "127.0.0.1" }]);
    },
  );

  test("is checked against the address that the outermost of our proxies saw", async () => {
    const key = auth.addKey({ allowedAddresses: ["203.0.113.0/24", "2001:db8::/32"] });
    for (const address of ["203.0.113.7", "2001:db8::1", "::ffff:203.0.113.7"])
      expect((await session(proxied, key, `${address}, 10.0.0.2`)).status).toBe(200);
    // The caller writes what it likes before the entries of our proxies.
    const forged = await session(proxied, key, "203.0.113.7, 198.51.100.1, 10.0.0.2");
    expect(forged.body.error).toMatchObject({ code: "WAUTH_006", details: { address: "198.51.100.1" } });
    const direct = await session(gateway, key, "203.0.113.7, 10.0.0.2");
    expect(direct.body.error).toMatchObject({ code: "WAUTH_006", details: { address: "127.0.0.1" } });
  });

  test("refuses before the organisation's rate is used", async () => {
    const { headers } = await session(gateway, auth.addKey({ allowedAddresses: ["192.0.2.1"] }));
    expect(headers["ratelimit-limit"]).toBeUndefined();
  });
});

/** Number of calls that could have changed data. */
function changes(): number {
  const { resolveKey: _key, leaseRate: _rate, getSession: _session, ...rest } = auth.calls;
  return Object.values(rest).reduce((sum, calls) => sum + calls, 0);
}
