import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createApiKey, createSecretKey, parseApiKey } from "@wonrail/kit/contract/apiKey";
import { sql } from "@wonrail/kit/db";
import { createClient } from "@wonrail/kit/grpc/client";
import { startGrpcServer } from "@wonrail/kit/grpc/server";
import { newId } from "@wonrail/kit/contract/ids";
import { createRegistry } from "@wonrail/kit/metrics";
import {
  createTestDatabase,
  eventually,
  openTestDatabase,
  testLog,
  type TestDatabase,
  testRegistry,
} from "@wonrail/kit/testing";
import { KeyIssued, OrganisationChanged } from "@wonrail/proto/auth/events/v1/events";
import {
  AuthServiceService,
  KeyAccess,
  Plan,
  Quota,
  type WatchChangesResponse,
} from "@wonrail/proto/auth/v1/auth";
import { createApp, type App } from "./app";
import { newOrganisation } from "./commands/testing/newOrganisation";
import { rpc } from "./rpc";

const log = testLog();
let database: TestDatabase;
let one: Replica;
let two: Replica;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../migrations") });
  [one, two] = await Promise.all([startReplica(), startReplica()]);
});
afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await database.drop();
});

test("keys are resolved, refreshed, shown and revoked", async () => {
  const { organisation, key, apiKey, secretKey } = await newOrganisation(one.app);
  const resolved = await one.client.resolveKey({ key: presented(apiKey), clientAddress: "192.0.2.1" });
  expect(resolved).toMatchObject({
    access: KeyAccess.FULL,
    refusal: undefined,
    cacheableMs: 1_000,
    principal: {
      orgId: organisation.orgId,
      orgCode: organisation.code,
      keyId: key.keyId,
      plan: Plan.STANDARD,
    },
  });
  const refreshed = await one.client.refreshKey({
    key: presented(apiKey),
    secretKey,
    clientAddress: "192.0.2.1",
  });
  expect(refreshed.newApiKey.startsWith(refreshed.keyPrefix)).toBe(true);
  expect(refreshed.oldKeyUsableUntil).toBeInstanceOf(Date);
  const session = await two.client.getSession({ orgId: organisation.orgId, keyId: refreshed.keyId });
  expect(session).toMatchObject({
    subscriptionActive: true,
    organisation: { code: organisation.code, dailyTransferLimitWon: "5000000" },
    key: { prefix: refreshed.keyPrefix, expiresAt: refreshed.expiresAt, overlapEndsAt: undefined },
  });
  expect(session.usage.map(({ quota }) => quota)).toEqual([
    Quota.WALLETS,
    Quota.MONEY_OPERATIONS,
    Quota.RECORDED_TRANSACTIONS,
  ]);
  const { revokedAt } = await one.client.revokeKey({
    orgId: organisation.orgId,
    keyId: key.keyId,
    clientAddress: "192.0.2.1",
  });
  expect(revokedAt).toBeInstanceOf(Date);
  const trail = await one.app.listAudit({ code: organisation.code, limit: 5 });
  expect(trail).toContainEqual(
    expect.objectContaining({ action: "key_revoked", actor: `key:${key.prefix}` }),
  );
  const after = await two.client.resolveKey({ key: presented(apiKey), clientAddress: "192.0.2.1" });
  expect(after).toMatchObject({
    access: KeyAccess.NONE,
    refusal: { code: "WAUTH_001" },
    principal: undefined,
  });
});

test("refusals of a refresh keep their code and details", async () => {
  const { apiKey } = await newOrganisation(one.app);
  const refresh = (clientAddress: string) =>
    one.client.refreshKey({ key: presented(apiKey), secretKey: createSecretKey("test").text, clientAddress });
  await expect(refresh("198.51.100.1")).rejects.toMatchObject({ code: "WAUTH_001", details: null });
  for (let i = 2; i <= 10; i += 1) await refresh(`198.51.100.${i}`).catch(() => undefined);
  await expect(refresh("198.51.100.11")).rejects.toMatchObject({
    code: "RATE_001",
    details: { retryAfterMs: expect.any(Number) as number },
  });
});

test("rates and quotas are leased", async () => {
  const { organisation } = await newOrganisation(one.app);
  const { orgId } = organisation;
  const rates = await Promise.all(
    Array.from({ length: 20 }, () => one.client.leaseRate({ orgId, replicaId: "gateway-a", wanted: 5 })),
  );
  expect(rates.every(({ granted, validForMs }) => granted === 5 && validForMs === 1_000)).toBe(true);
  expect(rates[0]).toMatchObject({ ratePerSecond: 100, rateBurst: 200, retryAfterMs: 0 });
  const lease = {
    orgId,
    quota: Quota.WALLETS,
    replicaId: "gateway-a",
    wanted: 5,
    leaseId: randomUUID(),
    accounts: [],
  };
  const quota = await one.client.leaseQuota(lease);
  expect(quota).toMatchObject({
    granted: 5,
    limit: 100_000n,
    used: 0n,
    leased: 5n,
    recallable: 0n,
    resetsAt: undefined,
  });
});

test("an organisation is found by id and by code", async () => {
  const { organisation } = await newOrganisation(one.app);
  const byId = await one.client.getOrganisation({ by: { $case: "orgId", value: organisation.orgId } });
  const byCode = await one.client.getOrganisation({ by: { $case: "code", value: organisation.code } });
  expect(byId).toEqual(byCode);
  expect(byId).toMatchObject({ subscriptionActive: true, organisation: { name: "A bank", version: 1n } });
});

const org = newId("org");
const key = newId("key");
const good = presented(createApiKey("test").text);
const quota = {
  orgId: org,
  quota: Quota.WALLETS,
  replicaId: "a",
  wanted: 1,
  leaseId: randomUUID(),
  accounts: [],
};
const account = { leaseId: "1", spent: 1 };
const giveBack = (accounts: (typeof account)[]) => one.client.leaseQuota({ ...quota, accounts });
test.each<[string, string, () => Promise<unknown>]>([
  ["no key", "key", () => one.client.resolveKey({ clientAddress: "" })],
  [
    "a hash of another length",
    "key",
    () => one.client.resolveKey({ key: { ...good, keyHash: Buffer.alloc(31) }, clientAddress: "" }),
  ],
  [
    "a prefix of another form",
    "key",
    () => one.client.resolveKey({ key: { ...good, prefix: "wk_test_'; drop" }, clientAddress: "" }),
  ],
  [
    "a key's id for an organisation's",
    "orgId",
    () => one.client.revokeKey({ orgId: key, keyId: key, clientAddress: "" }),
  ],
  ["an organisation's id for a key's", "keyId", () => one.client.getSession({ orgId: org, keyId: org })],
  [
    "an organisation that is not there",
    "orgId",
    () => one.client.leaseRate({ orgId: org, replicaId: "a", wanted: 1 }),
  ],
  [
    "more than anyone can want",
    "wanted",
    () => one.client.leaseRate({ orgId: org, replicaId: "a", wanted: 4_000_000_000 }),
  ],
  ["a quota that is not there", "quota", () => one.client.leaseQuota({ ...quota, quota: Quota.UNSPECIFIED })],
  ["a lease without an id", "leaseId", () => one.client.leaseQuota({ ...quota, leaseId: "" })],
  ["a lease id that is no UUID", "leaseId", () => one.client.leaseQuota({ ...quota, leaseId: "1" })],
  ["an account that is no UUID", "accounts.leaseId", () => giveBack([account])],
  ["more accounts than a call may give", "accounts", () => giveBack(Array(101).fill(account))],
  ["no way to find an organisation", "by", () => one.client.getOrganisation({})],
  [
    "a code that is not there",
    "organisation",
    () => one.client.getOrganisation({ by: { $case: "code", value: "NOBODY" } }),
  ],
])("%s is refused as REQ_001 and names the field %s", async (_name, path, call) => {
  await expect(call()).rejects.toMatchObject({ code: "REQ_001", details: { fields: [{ path }] } });
});

test("a gateway name that cannot be stored is REQ_001, and it gets no lease", async () => {
  const { organisation } = await newOrganisation(one.app);
  const lease = { ...quota, orgId: organisation.orgId, wanted: 5 };
  await expect(
    one.client.leaseQuota({ ...lease, replicaId: "a\0b", leaseId: randomUUID() }),
  ).rejects.toMatchObject({ code: "REQ_001" });
  const lent = await one.client.leaseQuota({ ...lease, leaseId: randomUUID() });
  expect(lent).toMatchObject({ granted: 5, leased: 5n });
});

describe("a watch", () => {
  test("receives changes made through another replica", async () => {
    const watch = startWatch(one);
    await watch.until(({ change }) => change?.$case === "started");
    const { organisation, key } = await newOrganisation(two.app);
    await two.client.revokeKey({ orgId: organisation.orgId, keyId: key.keyId, clientAddress: "" });
    const heard = await watch.until(({ change }) => change?.$case === "keyRevoked");
    expect(heard.change!.value).toEqual({
      orgId: organisation.orgId,
      keyId: key.keyId,
      keyPrefix: key.prefix,
    });
    await two.app.setOrganisation({ code: organisation.code, change: { name: "B" }, actor: "operator:test" });
    const changed = await watch.until(({ change }) => change?.$case === "organisationChanged");
    expect(changed.change!.value).toEqual({ orgId: organisation.orgId, version: 2n });
    watch.stop();
  });

  test("receives no change that was rolled back", async () => {
    const watch = startWatch(one);
    await watch.until(({ change }) => change?.$case === "started");
    const { organisation, key } = await newOrganisation(one.app);
    await database.db
      .run(sql`update audit_heads set hash = sha256('x'), sequence = 0`)
      .catch(() => undefined);
    const revoke = one.client.revokeKey({ orgId: organisation.orgId, keyId: key.keyId, clientAddress: "" });
    await expect(revoke).rejects.toMatchObject({ code: "SYS_001" });
    await watch.until(({ change }) => change?.$case === "heartbeat");
    expect(watch.heard.some(({ change }) => change?.$case === "keyRevoked")).toBe(false);
    watch.stop();
  });

  test("receives a reload when the database connection was lost", async () => {
    const watch = startWatch(one);
    await watch.until(({ change }) => change?.$case === "started");
    watch.heard.length = 0;
    const admin = openTestDatabase(database.adminUrl, "public", { max: 1 });
    await admin.run(sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'listen%'`);
    await admin.close();
    await watch.until(({ change }) => change?.$case === "started");
    watch.stop();
  });

  test("recalls quota when another gateway needs the last of it", async () => {
    const watch = startWatch(one);
    await watch.until(({ change }) => change?.$case === "started");
    const { organisation } = await newOrganisation(one.app);
    const { orgId } = organisation;
    await one.app.setOrganisation({
      code: organisation.code,
      change: { plan: "FREE" },
      actor: "operator:test",
    });
    for (let i = 0; i < 100; i += 1) {
      const lease = {
        orgId,
        quota: Quota.WALLETS,
        replicaId: "a",
        wanted: 100,
        leaseId: randomUUID(),
        accounts: [],
      };
      if ((await one.client.leaseQuota(lease)).granted === 0) break;
    }
    // An expired lease would not be recalled.
    await database.db.run(sql`
      update quota_leases set expires_at = now() + interval '1 minute' where org_id = ${orgId.slice(4)}::uuid`);
    const lease = {
      orgId,
      quota: Quota.WALLETS,
      replicaId: "b",
      wanted: 1,
      leaseId: randomUUID(),
      accounts: [],
    };
    const answer = await two.client.leaseQuota(lease);
    expect(answer).toMatchObject({ granted: 0, recallable: 100n, retryAfterMs: 50 });
    const heard = await watch.until(({ change }) => change?.$case === "quotaRecalled");
    expect(heard.change!.value).toEqual({ orgId, quota: Quota.WALLETS });
    watch.stop();
  });

  test("ends when its replica stops, without delaying it", async () => {
    const replica = await startReplica();
    const watch = startWatch(replica);
    await watch.until(({ change }) => change?.$case === "started");
    const startedMs = Date.now();
    await replica.stop();
    expect(Date.now() - startedMs).toBeLessThan(15_000);
    await watch.ended;
  });
});

test("events carry all fields and no secret", async () => {
  const { organisation, key, apiKey, secretKey } = await newOrganisation(one.app);
  const rows = await database.db.query<{ type: string; payload: Buffer }>(sql`
    select type, payload from outbox where org_id = ${organisation.orgId} order by id`);
  const [changed, issued] = rows;
  expect(OrganisationChanged.decode(changed!.payload).organisation).toMatchObject({
    orgId: organisation.orgId,
    incentiveRateBps: 0,
    dailyTransferLimitWon: "5000000",
    version: 1n,
  });
  expect(KeyIssued.decode(issued!.payload)).toMatchObject({
    keyPrefix: key.prefix,
    predecessorKeyId: undefined,
  });
  for (const secret of [apiKey.slice(21), secretKey.slice(8)]) {
    for (const { payload } of rows) expect(payload.includes(secret)).toBe(false);
  }
});

interface Replica {
  app: App;
  client: ReturnType<typeof clientOf>;
  stop(): Promise<void>;
}

async function startReplica(): Promise<Replica> {
  const registry = createRegistry({ service: "auth", version: "0", commit: "0" });
  const db = openTestDatabase(database.url, "auth");
  const closers: (() => Promise<void> | void)[] = [];
  const config = { KEY_MODE: "test", KEY_LIFETIME_HOURS: 1, KEY_OVERLAP_MS: 60_000 } as Parameters<
    typeof createApp
  >[0]["config"];
  const app = await createApp({
    config,
    db,
    log,
    registry,
    onClose: (_name, close) => void closers.push(close),
  });
  const server = await startGrpcServer({ host: "127.0.0.1", port: 0, services: rpc(app), log, registry });
  const client = clientOf(server.port);
  return {
    app,
    client,
    async stop() {
      app.endWatches();
      await server.drain(20_000);
      client.close();
      for (const close of closers) await close();
      await db.close();
    },
  };
}

function clientOf(port: number) {
  const registry = testRegistry();
  const options = { name: "auth", address: `127.0.0.1:${port}`, log, registry, defaultTimeoutMs: 15_000 };
  return createClient(AuthServiceService, options);
}

function startWatch({ client }: Replica) {
  const heard: WatchChangesResponse[] = [];
  const stop = new AbortController();
  const read = async () => {
    const stream = client.watchChanges(
      { replicaId: "gateway-a" },
      { timeoutMs: 60_000, signal: stop.signal },
    );
    for await (const word of stream) heard.push(word);
  };
  const ended = read().catch(() => undefined);
  return {
    heard,
    ended,
    stop: () => stop.abort(),
    until: (wanted: (word: WatchChangesResponse) => boolean) =>
      eventually(() => {
        const found = heard.find(wanted);
        if (!found) throw new Error(`heard only ${heard.map(({ change }) => change?.$case).join(", ")}`);
        return found;
      }),
  };
}

function presented(apiKey: string) {
  const { prefix, hash } = parseApiKey(apiKey)!;
  return { prefix, keyHash: hash };
}
