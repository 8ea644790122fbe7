import { join } from "node:path";
import { sql } from "@wonrail/kit/db";
import { newId, type Id } from "@wonrail/kit/ids";
import { createTestDatabase, openTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { createOperations, type Operations } from "../app";

const DEPS = { keyMode: "test" as const, keyLifetimeMs: 3_600_000, keyOverlapMs: 0 };
let database: TestDatabase;
let auth: Operations;
let organisations = 0;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../../migrations") });
  auth = createOperations({ db: database.db, ...DEPS });
});
afterAll(() => database.drop());

test("a new organisation has its whole burst", async () => {
  const orgId = await newOrganisation(10, 20);
  expect(await lease(orgId, 15)).toMatchObject({
    granted: 15,
    remaining: 5,
    rule: { perSecond: 10, burst: 20 },
  });
});

test("an empty bucket says when to come back", async () => {
  const orgId = await newOrganisation(1, 2);
  // In one round, so that nothing comes in between.
  const [, outcome] = await auth.leaseRates([
    { orgId, wanted: 2 },
    { orgId, wanted: 1 },
  ]);
  if (!outcome!.ok) throw outcome!.error;
  const { granted, retryAfterMs } = outcome!.value;
  expect(granted).toBe(0);
  expect(retryAfterMs).toBeGreaterThan(500);
  expect(retryAfterMs).toBeLessThanOrEqual(1_000);
});

test("one round draws for many organisations, each by its own rate, in the order of the asks", async () => {
  const [one, two] = [await newOrganisation(1, 4), await newOrganisation(1, 100)];
  const outcomes = await auth.leaseRates([
    { orgId: two, wanted: 60 },
    { orgId: one, wanted: 3 },
    { orgId: newId("org"), wanted: 1 },
    { orgId: one, wanted: 1 },
    { orgId: one, wanted: 1 },
  ]);
  expect(outcomes.map((outcome) => (outcome.ok ? outcome.value.granted : "refused"))).toEqual([
    60,
    3,
    "refused",
    1,
    0,
  ]);
});

test("gateways that storm two replicas get the burst and what came in meanwhile, no more", async () => {
  const orgId = await newOrganisation(50, 100);
  const other = openTestDatabase(database.url, "auth");
  const replicas = [auth, createOperations({ ...DEPS, db: other })];
  const startedMs = Date.now();
  let granted = 0;
  await Promise.all(
    Array.from({ length: 20 }, async (_, gateway) => {
      for (let round = 0; round < 15; round += 1) {
        const [outcome] = await replicas[gateway % 2]!.leaseRates([{ orgId, wanted: 10 }]);
        if (outcome!.ok) granted += outcome!.value.granted;
      }
    }),
  );
  const elapsedSeconds = (Date.now() - startedMs) / 1000;
  await other.close();
  expect(granted).toBeGreaterThanOrEqual(100);
  expect(granted).toBeLessThanOrEqual(100 + 50 * elapsedSeconds + 1);
});

test("what one organisation draws is not taken from another, nor given to it", async () => {
  const [one, two] = [await newOrganisation(1, 500), await newOrganisation(1, 1_000)];
  await lease(one, 500);
  expect((await lease(two, 600)).remaining).toBe(400);
  expect((await lease(one, 300)).granted).toBeLessThan(300);
});

test("a changed rate holds at the next draw", async () => {
  const orgId = await newOrganisation(1_000, 2_000);
  await lease(orgId, 1);
  const change = { ratePerSecond: 1, rateBurst: 3 };
  await auth.setOrganisation({ code: `ORG-${organisations}`, change, actor: "operator:test" });
  expect(await lease(orgId, 3)).toMatchObject({ granted: 3, remaining: 0, rule: { perSecond: 1, burst: 3 } });
});

test("after a crash of Postgres has emptied the buckets they are full", async () => {
  const orgId = await newOrganisation(1, 5);
  await lease(orgId, 5);
  await database.db.run(sql`delete from rate_buckets`);
  expect(await lease(orgId, 5)).toMatchObject({ granted: 5 });
});

async function lease(orgId: Id<"org">, wanted: number) {
  const [outcome] = await auth.leaseRates([{ orgId, wanted }]);
  if (!outcome!.ok) throw outcome!.error;
  return outcome!.value;
}

async function newOrganisation(ratePerSecond: number, rateBurst: number): Promise<Id<"org">> {
  organisations += 1;
  const input = {
    name: "A bank",
    code: `ORG-${organisations}`,
    ratePerSecond,
    rateBurst,
    actor: "operator:test",
  };
  return (await auth.createOrganisation(input)).organisation.orgId;
}
