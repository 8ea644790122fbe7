import { join } from "node:path";
import { crc32 } from "node:zlib";
import { createApiKey, parseApiKey } from "@wonrail/kit/contract/apiKey";
import { sql } from "@wonrail/kit/db";
import { createTestDatabase, eventually, type TestDatabase } from "@wonrail/kit/testing";
import { createOperations, type Operations } from "../app";
import { newOrganisation } from "./testing/newOrganisation";

let database: TestDatabase;
let auth: Operations;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../../migrations") });
  auth = createOperations({
    db: database.db,
    keyMode: "test",
    keyLifetimeMs: 3_600_000,
    keyOverlapMs: 60_000,
  });
});
afterAll(() => database.drop());

test("a valid key resolves to its organisation with full access", async () => {
  const { organisation, key, apiKey } = await newOrganisation(auth);
  const { standing, caller, refusal } = await resolve(apiKey);
  expect(standing).toEqual({ access: "FULL", refusal: null, cacheableMs: 1_000 });
  expect(caller).toMatchObject({ subscriptionActive: true, key: { keyId: key.keyId } });
  expect(caller!.organisation).toEqual(organisation);
  expect(refusal).toBeUndefined();
});

test("an ended or suspended subscription allows the session only, and a renewed one everything", async () => {
  const { organisation, apiKey } = await newOrganisation(auth);
  const set = (change: object) =>
    auth.setOrganisation({ code: organisation.code, change, actor: "operator:test" });
  await set({ subscriptionStartsAt: new Date(0), subscriptionEndsAt: new Date(Date.now() - 1_000) });
  expect((await resolve(apiKey)).standing).toMatchObject({ access: "SESSION", refusal: "WAUTH_003" });
  await set({ subscriptionEndsAt: new Date(Date.now() + 60_000) });
  expect((await resolve(apiKey)).standing.access).toBe("FULL");
  await set({ status: "SUSPENDED" });
  expect((await resolve(apiKey)).standing).toMatchObject({ access: "SESSION", refusal: "WAUTH_003" });
});

test("expiry is judged by the database's clock, to the millisecond", async () => {
  const { key, apiKey } = await newOrganisation(auth);
  // A slow machine asks too late, and repeats.
  await eventually(async () => {
    await database.db.run(sql`
      update api_keys set issued_at = now() - interval '1 day', expires_at = clock_timestamp() + interval '200 ms'
      where prefix = ${key.prefix}`);
    const { standing } = await resolve(apiKey);
    expect(standing.access).toBe("FULL");
    expect(standing.cacheableMs).toBeLessThanOrEqual(200);
  });
  await new Promise((resolve) => setTimeout(resolve, 220));
  expect((await resolve(apiKey)).standing).toMatchObject({ access: "REFRESH", refusal: "WAUTH_002" });
});

test("a revoked key gets the same answer as an unknown one", async () => {
  const { organisation, key, apiKey } = await newOrganisation(auth);
  await auth.revokeKey({ orgId: organisation.orgId, keyId: key.keyId, actor: "operator:test" });
  const [revoked, unknown] = [await resolve(apiKey), await resolve(createApiKey("test").text)];
  expect(revoked.standing).toEqual(unknown.standing);
  expect([revoked.caller, unknown.caller]).toEqual([undefined, undefined]);
});

describe("wrong secrets", () => {
  test("are throttled within 20 attempts, while the tenant is served", async () => {
    const { apiKey } = await newOrganisation(auth);
    const outcomes = new Map<string, number>();
    for (let i = 0; i < 500; i += 1) {
      const { standing, refusal } = await resolve(withOtherSecret(apiKey), "203.0.113.5");
      expect(standing.access).toBe("NONE");
      outcomes.set(refusal!.code, (outcomes.get(refusal!.code) ?? 0) + 1);
      if (i % 50 === 0) expect((await resolve(apiKey, "203.0.113.5")).standing.access).toBe("FULL");
    }
    expect(Object.fromEntries(outcomes)).toEqual({ WAUTH_001: 10, RATE_001: 490 });
  });

  test("for many keys from one address are throttled by the address", async () => {
    const codes = [];
    for (let i = 0; i < 22; i += 1) {
      codes.push((await resolve(createApiKey("test").text, "203.0.113.6")).refusal!.code);
    }
    expect(codes.slice(19)).toEqual(["WAUTH_001", "RATE_001", "RATE_001"]);
  });

  test("return the time to wait, and count anew after the window", async () => {
    const { apiKey, key } = await newOrganisation(auth);
    for (let i = 0; i < 10; i += 1) await resolve(withOtherSecret(apiKey), `203.0.113.${100 + i}`);
    const { refusal } = await resolve(withOtherSecret(apiKey), "203.0.113.120");
    expect(refusal!.code).toBe("RATE_001");
    expect(refusal!.details!.retryAfterMs).toBeGreaterThan(20_000);
    expect(refusal!.details!.retryAfterMs).toBeLessThanOrEqual(60_000);
    await database.db.run(
      sql`update failed_attempts set window_ends_at = now() where subject = ${key.prefix}`,
    );
    expect((await resolve(withOtherSecret(apiKey), "203.0.113.121")).refusal!.code).toBe("WAUTH_001");
  });

  test("are deleted after their window", async () => {
    await resolve(createApiKey("test").text, "203.0.113.200");
    await database.db.run(sql`update failed_attempts set window_ends_at = now() - interval '1 s'`);
    const left = () => database.db.query(sql`select from failed_attempts`);
    expect((await left()).length).toBeGreaterThanOrEqual(2);
    await auth.deleteOldFailures(new AbortController().signal);
    expect(await left()).toEqual([]);
  });

  test("from fifty callers at once are all counted", async () => {
    const { apiKey } = await newOrganisation(auth);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => resolve(withOtherSecret(apiKey), `198.51.100.${i}`)),
    );
    const plain = answers.filter(({ refusal }) => refusal!.code === "WAUTH_001");
    expect(plain).toHaveLength(10);
  });
});

describe("another organisation's", () => {
  test("key cannot be revoked or read, and the answer is that of an absent key", async () => {
    const [one, two] = [await newOrganisation(auth), await newOrganisation(auth)];
    const foreign = { orgId: two.organisation.orgId, keyId: one.key.keyId };
    await expect(auth.revokeKey({ ...foreign, actor: "key:x" })).rejects.toMatchObject({ code: "WAUTH_001" });
    const own = { orgId: one.organisation.orgId, keyId: one.key.keyId };
    expect(await auth.getSessions([own, foreign])).toMatchObject([
      { ok: true, value: { organisation: { code: one.organisation.code } } },
      { ok: false, error: { code: "WAUTH_001" } },
    ]);
    expect((await resolve(one.apiKey)).standing.access).toBe("FULL");
  });

  test("keys and audit entries are not in the lists", async () => {
    const [one, two] = [await newOrganisation(auth), await newOrganisation(auth)];
    const { keys } = await auth.listKeys({ code: one.organisation.code, limit: 100 });
    expect(keys.map(({ prefix }) => prefix)).toEqual([one.key.prefix]);
    const trail = await auth.listAudit({ code: two.organisation.code, limit: 100 });
    expect(trail.map(({ orgId }) => orgId)).toEqual([two.organisation.orgId]);
  });
});

test("an organisation code is unique", async () => {
  const { organisation } = await newOrganisation(auth);
  const twin = auth.createOrganisation({ name: "Twin", code: organisation.code, actor: "operator:test" });
  await expect(twin).rejects.toMatchObject({ code: "REQ_001", details: { fields: [{ path: "code" }] } });
});

function resolve(apiKey: string, clientAddress = "192.0.2.1") {
  return auth.resolveKey({ presented: parseApiKey(apiKey)!, clientAddress });
}

/** The prefix of an existing key with an invented secret, like a guess. */
function withOtherSecret(apiKey: string): string {
  const guess = createApiKey("test").text;
  const body = apiKey.slice(0, 21) + guess.slice(21, 53);
  return withChecksum(body);
}

function withChecksum(body: string): string {
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  let rest = crc32(body);
  let digits = "";
  for (let i = 0; i < 6; i += 1, rest = Math.floor(rest / 62)) digits = alphabet[rest % 62]! + digits;
  return body + digits;
}
