import { join } from "node:path";
import { rawSql, sql, tx, type Tx } from "@wonrail/kit/db";
import { idToUuid, newId, type Id } from "@wonrail/kit/contract/ids";
import { createTestDatabase, eventually, openTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { createOperations, type Operations } from "../app";
import { newOrganisation } from "./testing/newOrganisation";

const DEPS = { keyMode: "test" as const, keyLifetimeMs: 3_600_000, keyOverlapMs: 0 };
let database: TestDatabase;
let auth: Operations;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../../migrations") });
  auth = createOperations({ db: database.db, ...DEPS });
});
afterAll(() => database.drop());

test("a new organisation has its whole burst", async () => {
  const orgId = await orgWith(10, 20);
  expect(await lease(orgId, 15)).toMatchObject({
    granted: 15,
    remaining: 5,
    rule: { perSecond: 10, burst: 20 },
  });
});

test("an empty bucket returns the time to wait", async () => {
  const orgId = await orgWith(1, 2);
  // One round, so that nothing is refilled in between.
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

test("one call leases for many organisations in order, each by its own rate", async () => {
  const [one, two] = [await orgWith(1, 4), await orgWith(1, 100)];
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

test("two replicas under load grant at most the burst and the refill together", async () => {
  const orgId = await orgWith(50, 100);
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

test("a lease of one organisation does not change another bucket", async () => {
  const [one, two] = [await orgWith(1, 500), await orgWith(1, 1_000)];
  await lease(one, 500);
  expect((await lease(two, 600)).remaining).toBe(400);
  expect((await lease(one, 300)).granted).toBeLessThan(300);
});

test("a changed rate applies to the next lease", async () => {
  const { organisation } = await newOrganisation(auth, { ratePerSecond: 1_000, rateBurst: 2_000 });
  const { orgId, code } = organisation;
  await lease(orgId, 1);
  const change = { ratePerSecond: 1, rateBurst: 3 };
  await auth.setOrganisation({ code, change, actor: "operator:test" });
  expect(await lease(orgId, 3)).toMatchObject({ granted: 3, remaining: 0, rule: { perSecond: 1, burst: 3 } });
});

test("buckets are full after a crash of Postgres has emptied the unlogged table", async () => {
  const orgId = await orgWith(1, 5);
  await lease(orgId, 5);
  await database.db.run(sql`delete from rate_buckets`);
  expect(await lease(orgId, 5)).toMatchObject({ granted: 5 });
});

describe("two replicas that lease for the same two organisations", () => {
  let ids: [Id<"org">, Id<"org">];
  beforeEach(async () => {
    const { organisation } = await newOrganisation(auth, { ratePerSecond: 1, rateBurst: 5 });
    ids = [organisation.orgId, await orgWith(1, 5)];
    // From now on the first lies behind the second.
    const change = { rateBurst: 6 };
    await auth.setOrganisation({ code: organisation.code, change, actor: "operator:test" });
    // The planner then knows that the tables are small.
    const owner = openTestDatabase(database.ownerUrl, "auth", { max: 1 });
    await owner.run(sql`analyze organisations, rate_buckets`);
    await owner.close();
  });

  test("lock the buckets in id order, in any order of the rows", async () => {
    const [first, second] = ids;
    for (const orgId of [second, first]) await lease(orgId, 1);
    await whileOther(
      (tx) => tx.run(sql`select from rate_buckets where org_id = ${idToUuid(second)} for update`),
      async () => {
        const free = sql`select from rate_buckets where org_id = ${idToUuid(first)} for update skip locked`;
        expect(await database.db.query(free)).toEqual([]);
      },
    );
  });

  test("create the buckets in id order, in any order of the rows", async () => {
    const [first, second] = ids;
    const make = (orgId: Id<"org">) =>
      sql`insert into rate_buckets (org_id, millitokens, refilled_at) values (${idToUuid(orgId)}, 0, now())`;
    await whileOther(
      (tx) => tx.run(make(second)),
      async () => {
        const made = tx(
          database.db,
          async (tx) => {
            await tx.run(rawSql("set local lock_timeout = 200"));
            await tx.run(make(first));
          },
          { attempts: 1 },
        );
        await expect(made).rejects.toMatchObject({ cause: { code: "55P03" } });
      },
    );
  });

  /** Another replica holds the second row, so a lease for both organisations waits. */
  async function whileOther(has: (tx: Tx) => Promise<unknown>, check: () => Promise<void>): Promise<void> {
    const [first, second] = ids;
    let drawing: Promise<unknown> | undefined;
    await tx(database.db, async (tx) => {
      await has(tx);
      drawing = auth.leaseRates([
        { orgId: second, wanted: 1 },
        { orgId: first, wanted: 1 },
      ]);
      await eventually(async () => {
        const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        expect(await database.db.query(waiting)).toHaveLength(1);
      });
      await check();
    });
    await drawing;
  }
});

async function lease(orgId: Id<"org">, wanted: number) {
  const [outcome] = await auth.leaseRates([{ orgId, wanted }]);
  if (!outcome!.ok) throw outcome!.error;
  return outcome!.value;
}

async function orgWith(ratePerSecond: number, rateBurst: number): Promise<Id<"org">> {
  return (await newOrganisation(auth, { ratePerSecond, rateBurst })).organisation.orgId;
}
