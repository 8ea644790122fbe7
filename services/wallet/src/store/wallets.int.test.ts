import { join } from "node:path";
import { type Sql, sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, openTestDatabase, rowsRead, type TestDatabase } from "@wonrail/kit/testing";
import { listWallets, type WalletFilter } from "./wallets";

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase({ schema: "wallet", migrations: join(__dirname, "../../migrations") });
});
afterEach(() => database.drop());

test("a page of a young organisation reads only its own rows, up to the counted limit", async () => {
  const orgId = newId("org");
  const late = sql`case when n <= 15000 then 'org_before' else ${orgId} end`;
  await insert(late, sql`'NORMAL'`, sql`'ACTIVE'`, 40_000);
  expect(await list(orgId, {})).toEqual({ found: { rows: 21, total: 10_001 }, read: 10_022 });
});

test("deactivated wallets of one type are found without reading other wallets", async () => {
  const orgId = newId("org");
  const walletType = sql`case when n > 3000 or n % 600 = 0 then 'INCENTIVE' else 'NORMAL' end`;
  const status = sql`case when n > 3000 then 'ACTIVE' else 'DEACTIVATED' end`;
  await insert(sql`${orgId}::text`, walletType, status, 6_000);
  const incentive = await list(orgId, { status: "DEACTIVATED", walletType: "INCENTIVE" });
  expect(incentive).toEqual({ found: { rows: 5, total: 5 }, read: 10 });
  expect((await list(orgId, { status: "DEACTIVATED" })).found).toEqual({ rows: 21, total: 3_000 });
});

/** The planner then knows the rows, as in a table that grew for years. */
async function insert(orgId: Sql, walletType: Sql, status: Sql, count: number): Promise<void> {
  const owner = openTestDatabase(database.ownerUrl, "wallet", { max: 1 });
  await owner.run(sql`
    insert into wallets (org_id, wallet_id, user_id, wallet_type, address, key_index, status)
    select ${orgId}, 'wal_' || lpad(n::text, 32, '0'), n::text, ${walletType}, '0x' || lpad(n::text, 40, '0'), n, ${status}
    from generate_series(1, ${count}::integer) as n`);
  await owner.run(sql`analyze wallets`);
  await owner.close();
}

async function list(orgId: string, filter: WalletFilter) {
  const found = { rows: 0, total: 0 };
  const read = await rowsRead(database.db, "wallets", async (tx) => {
    const { rows, total } = await listWallets(tx, orgId, filter, { limit: 20, offset: 0, after: null });
    Object.assign(found, { rows: rows.length, total });
  });
  return { found, read };
}
