import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { testOperator, viewer, wholeScans } from "@wonrail/kit/testing";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { PaymentAdminServiceService } from "@wonrail/proto/payment/v1/admin";
import { PayoutRowStatus, PayoutStatus } from "@wonrail/proto/payment/v1/payment";
import { adminRpc } from "./adminRpc";
import { openWorld, type World } from "./commands/testing/world";
import { getOverview, search } from "./queries/operatorViews";

let world: World;
let admin: PromiseClient<typeof PaymentAdminServiceService>;
const opening = buildWorld(async (open) => {
  world = await open.use(openWorld());
  const { address } = await open.server([adminRpc(world.app())]);
  admin = open.client(PaymentAdminServiceService, address);
  return {};
});
beforeAll(() => opening, 60_000);
afterAll(async () => (await opening).close());

async function insertPayout(orgId: string): Promise<string> {
  const payoutId = newId("pyo");
  const { db } = world.databases.payment;
  await db.run(sql`
    insert into payouts (org_id, payout_id, mode, dry_run, from_wallet_id, total_won, row_count, created_at)
    values (${orgId}, ${payoutId}, 'BEST_EFFORT', false, ${newId("wal")}, 3000, 3, now())`);
  await db.run(sql`
    insert into payout_rows (org_id, payout_id, row_index, to_wallet_address, amount_won)
    select ${orgId}, ${payoutId}, index, '0xa', 1000 from generate_series(0, 2) as index`);
  return payoutId;
}

test("the overview counts transfers and payouts under way, and shows the rebuild that runs", async () => {
  expect(await admin.getOverview({ operator: viewer })).toEqual({
    ...{ pendingTransfers: 0, pendingSince: undefined, pendingPayouts: 0, rebuild: undefined },
  });
  const { db } = world.databases.payment;
  await db.run(sql`
    insert into transfers (org_id, transfer_id, status, from_wallet_id, to_wallet_address, amount_won, version, created_at)
    values ('org_1', 'trf_1', 'PENDING', 'wal_1', '0xa', 5, 1, '2026-11-02Z'),
      ('org_1', 'trf_2', 'PENDING', 'wal_1', '0xa', 5, 2, '2026-11-01Z'),
      ('org_1', 'trf_3', 'COMPLETED', 'wal_1', '0xa', 5, 3, '2026-10-01Z')`);
  await insertPayout(newId("org"));
  const rebuildId = await world.app().requestRebuild(testOperator());
  expect(await admin.getOverview({ operator: viewer })).toMatchObject({
    ...{ pendingTransfers: 2, pendingSince: new Date("2026-11-01Z"), pendingPayouts: 1 },
    rebuild: { rebuildId, operator: "tester", organisations: 0n, finishedAt: undefined },
  });
});

test("a payout of any organisation is found by its id, and its rows are shown page by page", async () => {
  const orgId = newId("org");
  const payoutId = await insertPayout(orgId);
  expect(await admin.search({ operator: viewer, text: ` ${payoutId}` })).toEqual({
    hits: [{ kind: "payout", id: payoutId, orgId, title: "PENDING payout of 3 rows" }],
  });
  for (const text of ["", newId("pyo"), newId("pay")])
    expect((await admin.search({ operator: viewer, text })).hits).toEqual([]);
  const rowsOf = (cursor?: string) =>
    admin.getPayoutDetails({
      ...{ operator: viewer, orgId, payoutId },
      rows: { limit: 2, position: cursor === undefined ? undefined : { $case: "cursor", value: cursor } },
    });
  const first = await rowsOf();
  expect(first.payout).toMatchObject({ payoutId, status: PayoutStatus.PENDING, rowCount: 3 });
  expect(first.rows).toMatchObject([{ index: 0, status: PayoutRowStatus.PENDING }, { index: 1 }]);
  expect((await rowsOf(first.page!.nextCursor)).rows).toMatchObject([{ index: 2 }]);
  const elsewhere = { operator: viewer, orgId: newId("org"), payoutId, rows: { limit: 1 } };
  await expect(admin.getPayoutDetails(elsewhere)).rejects.toMatchObject({ code: "PYO_001" });
});

test("no view reads a growing table whole", async () => {
  const scans = await wholeScans(world.databases.payment.db, async (db) => {
    await getOverview({ db });
    await search({ db }, newId("pyo"));
  });
  expect(scans).toEqual([]);
});
