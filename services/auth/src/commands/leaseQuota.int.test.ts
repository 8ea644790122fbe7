import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type Database, type Sql, sql } from "@wonrail/kit/db";
import { type Id } from "@wonrail/kit/contract/ids";
import { createTestDatabase, openTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { createOperations, type Operations } from "../app";
import { monthInSeoul } from "../domain/periods";
import { type LeaseQuotaInput } from "./leaseQuota";
import { newOrganisation } from "./testing/newOrganisation";

let database: TestDatabase;
let auth: Operations;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../../migrations") });
  auth = createOperations({ db: database.db, keyMode: "test", keyLifetimeMs: 3_600_000, keyOverlapMs: 0 });
});
afterAll(() => database.drop());

test("leaseQuota grants units, records their use and returns the usage and the reset time", async () => {
  const orgId = await newFree();
  const first = await auth.leaseQuota(ask(orgId, { leaseId: uuid(1) }));
  expect(first).toMatchObject({
    granted: 50,
    limit: 1_000n,
    usage: { spent: 0n, leased: 50n },
    recallable: 0n,
  });
  expect(first.validForMs).toBe(10_000);
  expect(first.period.resetsAt).toEqual(monthInSeoul(new Date()).resetsAt);
  const second = await auth.leaseQuota(
    ask(orgId, { wanted: 0, leaseId: null, accounts: [{ leaseId: uuid(1), spent: 20 }] }),
  );
  expect(second).toMatchObject({ granted: 0, usage: { spent: 20n, leased: 0n } });
});

test("wallets never reset", async () => {
  const orgId = await newFree();
  const grant = await auth.leaseQuota(ask(orgId, { quota: "WALLETS" }));
  expect(grant).toMatchObject({ limit: 100n, granted: 10 });
  expect(grant.period).toEqual({ name: "ever" });
});

test("a repeated call returns the same lease and records its reports once", async () => {
  const orgId = await newFree();
  await auth.leaseQuota(ask(orgId, { leaseId: uuid(1) }));
  const call = ask(orgId, { leaseId: uuid(2), accounts: [{ leaseId: uuid(1), spent: 7 }] });
  const answers = [await auth.leaseQuota(call), await auth.leaseQuota(call), await auth.leaseQuota(call)];
  for (const answer of answers)
    expect(answer).toMatchObject({ granted: 50, usage: { spent: 7n, leased: 50n } });
});

test("fifty callers on two replicas together get exactly the limit", async () => {
  const orgId = await newFree();
  const other = openTestDatabase(database.url, "auth");
  const replicas = [auth, createOperations({ ...deps(), db: other })];
  const gateways = Array.from({ length: 50 }, (_, gateway) =>
    spendQuota(replicas[gateway % 2]!, orgId, `gateway-${gateway}`),
  );
  const spent = await Promise.all(gateways);
  await other.close();
  const [usage] = await usagesOf(orgId);
  expect(usage).toEqual({ spent: 1_000n, leased: 0n });
  expect(spent.reduce((sum, units) => sum + units, 0)).toBe(1_000);
});

test("a database constraint refuses leases beyond the limit", async () => {
  const orgId = await newFree();
  await auth.leaseQuota(ask(orgId, { leaseId: uuid(1) }));
  await expect(
    database.db.run(sql`update quota_usages set leased_units = leased_units + 2000`),
  ).rejects.toThrow("quota_usages_within_limit");
});

test("units of a crashed gateway count as spent until a late report returns them", async () => {
  const orgId = await newFree();
  // On a slow machine the leases of earlier tests are overdue by now.
  await database.db.run(sql`update quota_leases set expires_at = now() - interval '1 second'`);
  while ((await auth.expireQuotaLeases(100)) > 0);
  await auth.leaseQuota(ask(orgId, { leaseId: uuid(1) }));
  expect(await auth.expireQuotaLeases(100)).toBe(0);
  await expireAll(orgId);
  expect(await auth.expireQuotaLeases(100)).toBe(1);
  expect(await usagesOf(orgId)).toEqual([{ spent: 50n, leased: 0n }]);
  await auth.leaseQuota(
    ask(orgId, { wanted: 0, leaseId: null, accounts: [{ leaseId: uuid(1), spent: 30 }] }),
  );
  expect(await usagesOf(orgId)).toEqual([{ spent: 30n, leased: 0n }]);
});

test("a report in the next month counts in the month of its lease", async () => {
  const orgId = await newFree();
  await auth.leaseQuota(ask(orgId, { leaseId: uuid(1) }));
  await moveUsageToLastMonth(orgId);
  const next = await auth.leaseQuota(
    ask(orgId, { leaseId: uuid(2), accounts: [{ leaseId: uuid(1), spent: 7 }] }),
  );
  expect(next).toMatchObject({ granted: 50, usage: { spent: 0n, leased: 50n } });
  expect(await usagesOf(orgId)).toEqual([
    { spent: 7n, leased: 0n },
    { spent: 0n, leased: 50n },
  ]);
});

test("a lease expires with its month", async () => {
  const orgId = await newFree();
  const endsAt = monthInSeoul(new Date()).resetsAt;
  const last = createOperations({ ...deps(), db: withTime(new Date(endsAt.getTime() - 3_000)) });
  expect((await last.leaseQuota(ask(orgId))).validForMs).toBe(3_000);
});

test("a report that is given twice in one call counts once", async () => {
  const orgId = await newFree();
  await auth.leaseQuota(ask(orgId, { leaseId: uuid(1) }));
  const account = { leaseId: uuid(1), spent: 7 };
  await auth.leaseQuota(ask(orgId, { wanted: 0, leaseId: null, accounts: [account, account] }));
  expect(await usagesOf(orgId)).toEqual([{ spent: 7n, leased: 0n }]);
});

test("a repeated lease keeps its expiry", async () => {
  const orgId = await newFree();
  const call = ask(orgId, { leaseId: uuid(1) });
  await auth.leaseQuota(call);
  await database.db.run(sql`
    update quota_leases set expires_at = clock_timestamp() + interval '4 seconds' where org_id = ${orgId.slice(4)}::uuid`);
  expect((await auth.leaseQuota(call)).validForMs).toBeLessThanOrEqual(4_000);
  await expireAll(orgId);
  expect((await auth.leaseQuota(call)).validForMs).toBe(0);
});

test("a repeated call for an expired lease grants nothing", async () => {
  const orgId = await newFree();
  const call = ask(orgId, { leaseId: uuid(1) });
  await auth.leaseQuota(call);
  await expireAll(orgId);
  await auth.expireQuotaLeases(100);
  expect(await auth.leaseQuota(call)).toMatchObject({ granted: 0, usage: { spent: 50n, leased: 0n } });
});

test("a lease that was reported before its call arrived grants nothing", async () => {
  const orgId = await newFree();
  const account = { leaseId: uuid(1), spent: 0 };
  for (const leaseId of [uuid(2), uuid(3)]) {
    const other = await auth.leaseQuota(ask(orgId, { wanted: 1, leaseId, accounts: [account] }));
    expect(other.granted).toBe(1);
  }
  expect(await auth.leaseQuota(ask(orgId, { leaseId: uuid(1) }))).toMatchObject({ granted: 0 });
  expect(await usagesOf(orgId)).toEqual([{ spent: 0n, leased: 2n }]);
});

test("an exhausted quota names the units that other gateways hold and may return", async () => {
  const orgId = await newFree();
  await spend(orgId, 998);
  const held = await auth.leaseQuota(ask(orgId, { leaseId: uuid(8), replicaId: "b" }));
  const heldByOther = await auth.leaseQuota(ask(orgId, { leaseId: uuid(9), replicaId: "b" }));
  expect([held.granted, heldByOther.granted]).toEqual([1, 1]);
  expect(await auth.leaseQuota(ask(orgId))).toMatchObject({ granted: 0, recallable: 2n });
  const accounts = [{ leaseId: uuid(8), spent: 0 }];
  await auth.leaseQuota(ask(orgId, { replicaId: "b", wanted: 0, leaseId: null, accounts }));
  expect(await auth.leaseQuota(ask(orgId, { leaseId: uuid(7) }))).toMatchObject({ granted: 1 });
  // Gateway b may return its unit; gateway a asks itself.
  expect(await auth.leaseQuota(ask(orgId))).toMatchObject({ granted: 0, recallable: 1n });
});

test("overdue leases of other gateways are not recalled", async () => {
  const orgId = await newFree();
  await spend(orgId, 999);
  await auth.leaseQuota(ask(orgId, { replicaId: "b" }));
  expect(await auth.leaseQuota(ask(orgId))).toMatchObject({ granted: 0, recallable: 1n });
  await expireAll(orgId);
  expect(await auth.leaseQuota(ask(orgId))).toMatchObject({ granted: 0, recallable: 0n });
});

test("an organisation's leases and reports do not affect another's", async () => {
  const [one, two] = [await newFree(), await newFree()];
  await auth.leaseQuota(ask(one, { leaseId: uuid(1) }));
  await auth.leaseQuota(ask(two, { wanted: 0, leaseId: null, accounts: [{ leaseId: uuid(1), spent: 50 }] }));
  expect(await usagesOf(one)).toEqual([{ spent: 0n, leased: 50n }]);
  expect(await auth.leaseQuota(ask(two, { leaseId: uuid(1) }))).toMatchObject({ granted: 50 });
});

test("a report above the granted units is refused and changes nothing", async () => {
  const orgId = await newFree();
  await auth.leaseQuota(ask(orgId, { leaseId: uuid(1) }));
  const call = ask(orgId, { leaseId: uuid(2), accounts: [{ leaseId: uuid(1), spent: 51 }] });
  await expect(auth.leaseQuota(call)).rejects.toMatchObject({ code: "REQ_001" });
  expect(await usagesOf(orgId)).toEqual([{ spent: 0n, leased: 50n }]);
});

test("a lowered plan grants nothing more and keeps the recorded usage", async () => {
  const { organisation } = await newOrganisation(auth, { plan: "STANDARD" });
  const { orgId, code } = organisation;
  await spend(orgId, 1_500);
  await auth.setOrganisation({ code, change: { plan: "FREE" }, actor: "operator:test" });
  expect(await auth.leaseQuota(ask(orgId))).toMatchObject({
    granted: 0,
    limit: 1_000n,
    usage: { spent: 1_500n },
  });
});

test("the session shows the spent and the leased units", async () => {
  const { organisation, key } = await newOrganisation(auth, { plan: "FREE" });
  await auth.leaseQuota(ask(organisation.orgId, { leaseId: uuid(1), quota: "WALLETS" }));
  const [outcome] = await auth.getSessions([{ orgId: organisation.orgId, keyId: key.keyId }]);
  assert(outcome?.ok);
  expect(outcome.value.usage.map(({ quota, limit, used, leased }) => [quota, limit, used, leased])).toEqual([
    ["WALLETS", 100n, 0n, 10n],
    ["MONEY_OPERATIONS", 1_000n, 0n, 0n],
    ["RECORDED_TRANSACTIONS", 1_000n, 0n, 0n],
  ]);
});

/** A gateway that leases and spends everything, and stops when no other gateway holds units. */
async function spendQuota(replica: Operations, orgId: Id<"org">, replicaId: string): Promise<number> {
  let spent = 0;
  let last: { leaseId: string; spent: number } | null = null;
  for (let calls = 0; calls < 2_000; calls += 1) {
    const leaseId = randomUUID();
    const grant = await replica.leaseQuota(
      ask(orgId, { leaseId, replicaId, wanted: 40, accounts: last ? [last] : [] }),
    );
    spent += grant.granted;
    last = grant.granted > 0 ? { leaseId, spent: grant.granted } : null;
    if (grant.granted === 0 && grant.recallable === 0n) return spent;
  }
  throw new Error("the quota never ran out");
}

async function spend(orgId: Id<"org">, units: number): Promise<void> {
  let left = units;
  for (let calls = 0; left > 0 && calls < 1_000; calls += 1) {
    const leaseId = randomUUID();
    const { granted } = await auth.leaseQuota(ask(orgId, { leaseId, wanted: left }));
    await auth.leaseQuota(ask(orgId, { wanted: 0, leaseId: null, accounts: [{ leaseId, spent: granted }] }));
    left -= granted;
  }
}

function ask(orgId: Id<"org">, changes: Partial<LeaseQuotaInput> = {}): LeaseQuotaInput {
  return {
    orgId,
    quota: "MONEY_OPERATIONS",
    replicaId: "a",
    wanted: 50,
    leaseId: randomUUID(),
    accounts: [],
    ...changes,
  };
}

function uuid(number: number): string {
  return `00000000-0000-4000-8000-00000000000${number}`;
}

async function usagesOf(orgId: Id<"org">): Promise<{ spent: bigint; leased: bigint }[]> {
  return database.db.query(sql`
    select spent_units as spent, leased_units as leased from quota_usages
    where org_id = ${orgId.slice(4)}::uuid order by quota, period`);
}

/** The only use there is, with its leases. */
async function moveUsageToLastMonth(orgId: Id<"org">): Promise<void> {
  const of = sql`where org_id = ${orgId.slice(4)}::uuid`;
  await database.db.run(sql`
    insert into quota_usages select org_id, quota, '2020-01', limit_units, spent_units, leased_units from quota_usages ${of}`);
  await database.db.run(sql`update quota_leases set period = '2020-01' ${of}`);
  await database.db.run(sql`delete from quota_usages ${of} and period <> '2020-01'`);
}

/** The same database at this time. */
function withTime(now: Date): Database {
  const { db } = database;
  return {
    ...db,
    async maybe<T>(query: Sql) {
      const row = await db.maybe<T>(query);
      return row && { ...row, now };
    },
  };
}

async function expireAll(orgId: Id<"org">): Promise<void> {
  await database.db.run(sql`
    update quota_leases set expires_at = now() - interval '1 second' where org_id = ${orgId.slice(4)}::uuid`);
}

function deps() {
  return { keyMode: "test" as const, keyLifetimeMs: 3_600_000, keyOverlapMs: 0 };
}

async function newFree(): Promise<Id<"org">> {
  return (await newOrganisation(auth, { plan: "FREE" })).organisation.orgId;
}
