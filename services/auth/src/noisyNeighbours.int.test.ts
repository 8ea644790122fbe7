import { join } from "node:path";
import { createApiKey, parseApiKey } from "@wonrail/kit/contract/apiKey";
import { type Database, rawSql, sql, tx } from "@wonrail/kit/db";
import {
  createTestDatabase,
  eventually,
  openTestDatabase,
  testLog,
  type TestDatabase,
  testRegistry,
} from "@wonrail/kit/testing";
import { type App, createApp } from "./app";
import { newOrganisation } from "./commands/testing/newOrganisation";
import { type Config } from "./config";

// The requests of one caller wait for a lock, as on a slow database. Other callers are served
// meanwhile.

const closers: (() => Promise<void> | void)[] = [];
let database: TestDatabase;
let outside: Database;
let app: App;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../migrations") });
  outside = openTestDatabase(database.adminUrl, "auth");
  const config = { KEY_MODE: "test", KEY_LIFETIME_HOURS: 1, KEY_OVERLAP_MS: 60_000 } as Config;
  const onClose = (_name: string, close: () => Promise<void> | void) => void closers.push(close);
  app = await createApp({ config, db: database.db, log: testLog(), registry: testRegistry(), onClose });
});
afterAll(async () => {
  for (const close of closers) await close();
  await outside.close();
  await database.drop();
});

test("leases and look-ups are served while a noisy organisation's session calls wait", async () => {
  const [noisy, other] = [await newOrganisation(app), await newOrganisation(app)];
  const ask = { orgId: noisy.organisation.orgId, keyId: noisy.key.keyId };
  const sessions = await whileLocked("lock table quota_usages in access exclusive mode", {
    requests: () => app.getSession(ask),
    meanwhile: async () => {
      const lease = await app.leaseRate({ orgId: other.organisation.orgId, wanted: 1 });
      expect(lease).toMatchObject({ granted: 1 });
      expect(await resolve(other.apiKey)).toMatchObject({ standing: { access: "FULL" } });
    },
  });
  expect(sessions.filter(({ key }) => key.keyId === ask.keyId)).toHaveLength(200);
});

test("a valid key is resolved while guesses from the same address wait for their counter", async () => {
  const { apiKey } = await newOrganisation(app);
  const guess = () => resolve(createApiKey("test").text);
  await guess();
  const guesses = await whileLocked("select from failed_attempts for update", {
    requests: guess,
    meanwhile: async () => {
      expect(await resolve(apiKey)).toMatchObject({ standing: { access: "FULL" } });
    },
  });
  const codes = guesses.map(({ refusal }) => refusal?.code);
  expect(codes.filter((code) => code === "WAUTH_001")).toHaveLength(19);
  expect(codes.filter((code) => code === "RATE_001")).toHaveLength(181);
});

interface Load<T> {
  requests: () => Promise<T>;
  meanwhile: () => Promise<void>;
}

/** Sends 200 requests that wait for the lock. They may use only one connection. */
async function whileLocked<T>(lock: string, { requests, meanwhile }: Load<T>): Promise<T[]> {
  let answers: Promise<T[]> | undefined;
  await tx(outside, async (tx) => {
    await tx.query(rawSql(lock));
    answers = Promise.all(Array.from({ length: 200 }, requests));
    await eventually(async () => expect(await waitingForLock()).toBe(1n));
    await meanwhile();
  });
  return answers!;
}

async function waitingForLock(): Promise<bigint> {
  const { waiting } = await outside.one<{ waiting: bigint }>(sql`
    select count(*) as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`);
  return waiting;
}

function resolve(apiKey: string) {
  return app.resolveKey({ presented: parseApiKey(apiKey)!, clientAddress: "203.0.113.77" });
}
