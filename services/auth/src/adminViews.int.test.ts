import { join } from "node:path";
import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { testOperator, viewer, wholeScans } from "@wonrail/kit/testing";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { AuthAdminServiceService } from "@wonrail/proto/auth/v1/admin";
import { Quota } from "@wonrail/proto/auth/v1/auth";
import { adminRpc } from "./adminRpc";
import { createOperations } from "./app";
import { monthsAgoInSeoul } from "./domain/periods";
import { getOrganisationDetails } from "./queries/getUsage";
import { search } from "./queries/search";

const rules = { keyMode: "test", keyLifetimeMs: 3_600_000, keyOverlapMs: 0 } as const;

const world = buildWorld(async (open) => {
  const { db } = await open.database({ schema: "auth", migrations: join(__dirname, "../migrations") });
  const app = createOperations({ db, ...rules });
  const { address } = await open.server([adminRpc(app, db)]);
  return { db, app, admin: open.client(AuthAdminServiceService, address) };
});
afterAll(async () => (await world).close());

async function organisation(code: string, name: string) {
  const { app } = await world;
  return app.createOrganisation({ code, name, actor: testOperator() });
}

test("search finds organisations by id, code and name, and keys by id and prefix", async () => {
  const { admin } = await world;
  const { organisation: found, key } = await organisation("HANBIT", "Hanbit Bank 100%");
  await organisation("OTHER", "Another Bank");
  const { orgId } = found;
  const bank = { kind: "organisation", id: orgId, orgId, title: "HANBIT, Hanbit Bank 100%" };
  const hitsOf = async (text: string) => (await admin.search({ operator: viewer, text })).hits;
  for (const text of [orgId, "HANBIT", "hanb", "Hanbit Bank 1", " hanbit bank 100% "])
    expect(await hitsOf(text)).toEqual([bank]);
  for (const text of [key.keyId, key.prefix])
    expect(await hitsOf(text)).toMatchObject([{ kind: "api_key", id: key.keyId, orgId }]);
  for (const text of ["", "h", "%", "_ANBIT", "bit", newId("org"), newId("key"), "x".repeat(101)])
    expect(await hitsOf(text)).toEqual([]);
});

test("an organisation shows the usage of its plan, now and by month", async () => {
  const { admin, db } = await world;
  const { organisation: found } = await organisation("USED", "Used Bank");
  const uuid = found.orgId.slice(4);
  const [month, before] = [monthsAgoInSeoul(new Date(), 0), monthsAgoInSeoul(new Date(), 1)];
  await db.run(sql`
    insert into quota_usages (org_id, quota, period, limit_units, spent_units, leased_units) values
      (${uuid}::uuid, 'MONEY_OPERATIONS', ${month}, 100, 30, 5),
      (${uuid}::uuid, 'MONEY_OPERATIONS', ${before}, 100, 70, 0),
      (${uuid}::uuid, 'MONEY_OPERATIONS', '2001-01', 100, 1, 0),
      (${uuid}::uuid, 'WALLETS', 'ever', 10, 2, 0)`);
  const byCode = await admin.getOrganisationDetails({
    ...{ operator: viewer, by: { $case: "code", value: "USED" } },
  });
  expect(byCode).toMatchObject({
    organisation: { orgId: found.orgId, code: "USED" },
    subscriptionActive: true,
    months: [
      { quota: Quota.MONEY_OPERATIONS, month: before, limit: 100n, used: 70n },
      { quota: Quota.MONEY_OPERATIONS, month, limit: 100n, used: 30n },
    ],
  });
  expect(byCode.usage).toContainEqual(
    expect.objectContaining({ quota: Quota.MONEY_OPERATIONS, used: 30n, leased: 5n }),
  );
  expect(byCode.usage).toContainEqual(expect.objectContaining({ quota: Quota.WALLETS, used: 2n }));
  const byId = { $case: "orgId", value: found.orgId } as const;
  expect(await admin.getOrganisationDetails({ operator: viewer, by: byId })).toEqual(byCode);
  await expect(admin.getOrganisationDetails({ operator: viewer, by: undefined })).rejects.toMatchObject({
    code: "REQ_001",
  });
});

test("no view reads a growing table whole", async () => {
  const { db } = await world;
  const scans = await wholeScans(db, async (db) => {
    for (const text of ["hanbit", newId("org"), newId("key")]) await search({ db }, text);
    await getOrganisationDetails({ db }, { code: "USED" });
  });
  expect(scans).toEqual([]);
});
