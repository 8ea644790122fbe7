// The traces of a finished request: the audit trail, and the metrics that alerts read.
import { join } from "node:path";
import { createApiKey, parseApiKey, type PresentedApiKey } from "@wonrail/kit/contract/apiKey";
import { childTraceparent, runInContext } from "@wonrail/kit/context";
import { createClient } from "@wonrail/kit/grpc/client";
import { type GrpcServer, startGrpcServer } from "@wonrail/kit/grpc/server";
import { type Registry } from "@wonrail/kit/metrics";
import { createTestDatabase, testLog, type TestDatabase, testRegistry } from "@wonrail/kit/testing";
import { AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { type App, createApp } from "./app";
import { type Config } from "./config";
import { rpc } from "./rpc";

const log = testLog();
const HOUR_MS = 3_600_000;
const closers: (() => Promise<void> | void)[] = [];
let database: TestDatabase;
let registry: Registry;
let app: App;
let server: GrpcServer;
let client: ReturnType<typeof clientOf>;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../migrations") });
  registry = testRegistry();
  const config = { KEY_MODE: "test", KEY_LIFETIME_HOURS: 2, KEY_OVERLAP_MS: 60_000 } as Config;
  const onClose = (_name: string, close: () => Promise<void> | void) => void closers.push(close);
  app = await createApp({ config, db: database.db, log, registry, onClose });
  server = await startGrpcServer({ host: "127.0.0.1", port: 0, services: rpc(app), log, registry });
  client = clientOf(server.port);
});
afterAll(async () => {
  client.close();
  await server.drain(1_000);
  for (const close of closers) await close();
  await database.drop();
});

test("a partner's change is audited under the request's id", async () => {
  const { organisation, key } = await app.createOrganisation({
    name: "A",
    code: "TRAIL",
    actor: "operator:x",
  });
  const context = { requestId: "req-of-a-partner.1", traceparent: childTraceparent() };
  const wanted = { orgId: organisation.orgId, keyId: key.keyId, clientAddress: "192.0.2.7" };
  await runInContext(context, () => client.revokeKey(wanted));
  const [entry] = await app.listAudit({ code: "TRAIL", limit: 1 });
  expect(entry).toMatchObject({ action: "key_revoked", requestId: context.requestId });
  expect(JSON.parse(entry!.details)).toEqual({ address: "192.0.2.7" });
});

test("a refused key is counted by the code of its refusal, and an accepted one is not", async () => {
  const { apiKey } = await app.createOrganisation({ name: "A", code: "COUNT", actor: "operator:x" });
  await resolve(parseApiKey(apiKey)!);
  expect(await refusals()).toEqual({});
  await app.setOrganisation({ code: "COUNT", change: { status: "SUSPENDED" }, actor: "operator:x" });
  await resolve(parseApiKey(apiKey)!);
  for (let tries = 0; tries < 2; tries += 1) await resolve(createApiKey("test"));
  expect(await refusals()).toEqual({ WAUTH_001: 2, WAUTH_003: 1 });
});

test("a key lives for the configured number of hours", async () => {
  const { key } = await app.createOrganisation({ name: "A", code: "HOURS", actor: "operator:x" });
  const issued = await app.issueKey({ code: "HOURS", actor: "operator:x" });
  for (const { issuedAt, expiresAt } of [key, issued.key])
    expect(expiresAt.getTime() - issuedAt.getTime()).toBe(2 * HOUR_MS);
});

function resolve({ prefix, hash }: PresentedApiKey) {
  return client.resolveKey({ key: { prefix, keyHash: hash }, clientAddress: "192.0.2.1" });
}

async function refusals(): Promise<Record<string, number>> {
  const { values } = await registry.getSingleMetric("auth_key_refusals_total")!.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.code, value]));
}

function clientOf(port: number) {
  const options = { name: "auth", address: `127.0.0.1:${port}`, log, registry: testRegistry() };
  return createClient(AuthServiceService, { ...options, defaultTimeoutMs: 15_000 });
}
