import { join } from "node:path";
import { sql } from "@wonrail/kit/db";
import { createRegistry, type Registry } from "@wonrail/kit/metrics";
import {
  createTestDatabase,
  openTestDatabase,
  rowsRead,
  testLog,
  type TestDatabase,
} from "@wonrail/kit/testing";
import { createApp, type App } from "./app";
import { type Config } from "./config";
import { jobs } from "./jobs";
import { findOverdueUsages } from "./store/quotaLeases";

let database: TestDatabase;
let registry: Registry;
let app: App;
const closers: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../migrations") });
  registry = createRegistry({ service: "auth", version: "0", commit: "0" });
  const config = { KEY_MODE: "test", KEY_LIFETIME_HOURS: 1, KEY_OVERLAP_MS: 0 } as Config;
  const onClose = (_name: string, close: () => Promise<void> | void) => void closers.push(close);
  app = await createApp({ config, db: database.db, log: testLog(), registry, onClose });
});
afterAll(async () => {
  for (const close of closers) await close();
  await database.drop();
});

test("every job runs twice, also without work", async () => {
  const signal = new AbortController().signal;
  for (const job of [...jobs(app), ...jobs(app)]) await job.run(signal);
});

test("a tampered trail shows as a violated invariant from the next round until it is repaired", async () => {
  await app.createOrganisation({ name: "A bank", code: "ONE", actor: "operator:test" });
  const owner = openTestDatabase(database.ownerUrl, "auth", { max: 1 });
  expect(await violations()).toBe(0);
  await owner.run(sql`update audit_entries set subject = 'TWO'`);
  expect(await violations()).toBe(1);
  await owner.run(sql`update audit_entries set subject = 'ONE'`);
  expect(await violations()).toBe(0);
  await owner.close();
});

test("old leases and ended failure windows are deleted, and the rest stays", async () => {
  const { organisation } = await app.createOrganisation({
    name: "A bank",
    code: "OLD",
    actor: "operator:test",
  });
  for (const number of [1, 2, 3, 4]) {
    const leaseId = `00000000-0000-4000-8000-00000000000${number}`;
    const ask = { orgId: organisation.orgId, quota: "WALLETS" as const, replicaId: "a", wanted: 5, leaseId };
    await app.leaseQuota({ ...ask, accounts: [] });
  }
  await database.db.run(sql`
    update quota_leases set expires_at = now() - case right(lease_id::text, 1)
        when '1' then interval '8 days' when '2' then interval '6 days' else interval '-1 hour' end,
      state = 'OPEN'`);
  const deleting = jobs(app).filter(({ name }) => name.startsWith("delete_old_"));
  // An open lease stays on loan until it is expired, even when it is overdue.
  for (const job of deleting) await job.run(new AbortController().signal);
  expect(await states()).toEqual(["OPEN", "OPEN", "OPEN", "OPEN"]);
  for (const job of jobs(app)) await job.run(new AbortController().signal);
  expect(await states()).toEqual(["EXPIRED", "OPEN", "OPEN"]);
  const [usage] = await database.db.query(sql`select spent_units, leased_units from quota_usages`);
  expect(usage).toEqual({ spent_units: 10n, leased_units: 10n });
  await database.db.run(sql`delete from quota_leases where lease_id::text not like '%4'`);
});

test("a round deletes every ended row, and a shutdown ends the round", async () => {
  await database.db.run(sql`
    insert into quota_leases
      (org_id, lease_id, quota, period, replica_id, state, granted_units, spent_units, granted_at, expires_at)
    select org_id, gen_random_uuid(), quota, period, 'a', 'ACCOUNTED', 1, 1, now(), now() - interval '8 days'
    from quota_usages, generate_series(1, 1200)`);
  await database.db.run(sql`
    insert into failed_attempts (subject_kind, subject, failures, window_ends_at)
    select 'KEY', n::text, 1, now() - interval '1 second' from generate_series(1, 1200) as n`);
  const deleting = jobs(app).filter(({ name }) => name.startsWith("delete_old_"));
  for (const job of deleting) await job.run(AbortSignal.abort());
  expect(await rowsLeft()).toEqual({ leases: 1_201n, failures: 1_200n });
  for (const job of deleting) await job.run(new AbortController().signal);
  expect(await rowsLeft()).toEqual({ leases: 1n, failures: 0n });
});

test("the search for overdue leases reads no open lease", async () => {
  await app.createOrganisation({ name: "A bank", code: "BUSY", actor: "operator:test" });
  await database.db.run(sql`
    insert into quota_usages select org_id, 'WALLETS', '2026-01', 9000, 0, 3001 from organisations where code = 'BUSY'`);
  await database.db.run(sql`
    insert into quota_leases (org_id, lease_id, quota, period, replica_id, state, granted_units, granted_at, expires_at)
    select org_id, gen_random_uuid(), quota, period, 'a', 'OPEN', 1, now(), now() + case n when 0 then interval '-1 hour' else '1 hour' end
    from quota_usages, generate_series(0, 3000) as n where leased_units = 3001`);
  const owner = openTestDatabase(database.ownerUrl, "auth", { max: 1 });
  await owner.run(sql`analyze quota_leases`);
  await owner.close();
  let found = 0;
  const read = await rowsRead(database.db, "quota_leases", async (tx) => {
    found = (await findOverdueUsages(tx, 500)).length;
  });
  expect(found).toBe(1);
  expect(read).toBeLessThan(10);
});

async function states(): Promise<string[]> {
  const rows = await database.db.query<{ state: string }>(
    sql`select state from quota_leases order by lease_id`,
  );
  return rows.map(({ state }) => state);
}

function rowsLeft() {
  return database.db.one(sql`
    select (select count(*) from quota_leases) as leases, (select count(*) from failed_attempts) as failures`);
}

async function violations(): Promise<number> {
  for (const job of jobs(app)) await job.run(new AbortController().signal);
  const metric = await registry.getSingleMetric("invariant_violations")!.get();
  return metric.values.find(({ labels }) => labels.invariant === "audit_chain")!.value;
}
