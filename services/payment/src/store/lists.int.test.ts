import { join } from "node:path";
import { rawSql, sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, openTestDatabase, rowsRead, type TestDatabase } from "@wonrail/kit/testing";
import { listChargeCancels, listCharges } from "./charges";
import { listPayments } from "./payments";
import { listTransfers } from "./transfers";

const orgId = newId("org");
const PAGE = { limit: 20, offset: 0, after: null };
/** The limit to which a list is counted, and one row more. */
const COUNTED = 10_001;

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase({ schema: "payment", migrations: join(__dirname, "../../migrations") });
});
afterEach(() => database.drop());

test("reading a charge of thousands of parts reads only the newest 100", async () => {
  await fill(
    "charge_cancels",
    `insert into charge_cancels (org_id, cancel_id, charge_id, amount_won, version, created_at)
     select '${orgId}', 'ccl_' || lpad(n::text, 32, '0'), 'chg_1', n, n, now() from generate_series(1, 3000) n`,
  );
  let shown: bigint[] = [];
  const read = await rowsRead(database.db, "charge_cancels", async (tx) => {
    shown = (await listChargeCancels(tx, orgId, "chg_1")).map(({ amountWon }) => amountWon);
  });
  expect([shown.length, shown[0], shown.at(-1)]).toEqual([100, 2_901n, 3_000n]);
  expect(read).toBe(100);
});

// Another organisation's rows come first, and nearly all of ours are of one shop.
const ID = "lpad(n::text, 32, '0')";
const ORG = `case when n <= 15000 then 'org_before' else '${orgId}' end`;
const SHOP = "case when n % 10 = 0 then 'wal_' || n else 'wal_shop' end";
const LISTS: [
  table: string,
  insert: string,
  list: typeof listCharges | typeof listPayments | typeof listTransfers,
][] = [
  [
    "payments",
    `insert into payments (org_id, payment_id, payer_wallet_id, receiver_wallet_id, amount_won, government_won, incentive_won,
       normal_won, accrued_won, refunded_won, version, created_at)
     select ${ORG}, 'pay_' || ${ID}, 'wal_' || n, ${SHOP}, 100, 0, 0, 100, 0, 0, n, now()`,
    listPayments,
  ],
  [
    "transfers",
    `insert into transfers (org_id, transfer_id, status, from_wallet_id, to_wallet_address, to_wallet_id, amount_won, version, created_at)
     select ${ORG}, 'trf_' || ${ID}, 'COMPLETED', 'wal_' || n, '0x', ${SHOP}, 1, n, now()`,
    listTransfers,
  ],
  [
    "charges",
    `insert into charges (org_id, charge_id, wallet_id, amount_won, cancelled_won, balance_won, version, created_at)
     select ${ORG}, 'chg_' || ${ID}, ${SHOP}, 1000, 0, 1000, n, now()`,
    listCharges,
  ],
];

test.each(LISTS)(
  "a page of many %s reads its own rows and the counted rows, no more",
  async (table, insert, list) => {
    await fill(table, `${insert} from generate_series(1, 40000) n`);
    for (const walletId of [null, "wal_shop"]) {
      const found: { rows: number; total: number | null } = { rows: 0, total: 0 };
      const read = await rowsRead(database.db, table, async (tx) => {
        const { rows, total } = await list(tx, { orgId, walletId, page: PAGE });
        Object.assign(found, { rows: rows.length, total });
      });
      expect(found).toEqual({ rows: 21, total: null });
      expect(read).toBe(COUNTED + 21);
    }
  },
);

/** Fills the table and updates its statistics, as for a table that has grown for years. */
async function fill(table: string, insert: string): Promise<void> {
  const owner = openTestDatabase(database.ownerUrl, "payment", { max: 1 });
  await owner.run(rawSql(insert));
  await owner.run(sql`analyze ${sql.identifier(table)}`);
  await owner.close();
}
