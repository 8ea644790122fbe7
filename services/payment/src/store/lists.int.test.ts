import { join } from "node:path";
import { rawSql, sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, openTestDatabase, rowsRead, type TestDatabase } from "@wonrail/kit/testing";
import { listChargeCancels, listCharges } from "./charges";
import { listPayments } from "./payments";
import { listTransfers } from "./transfers";

const orgId = newId("org");
const PAGE = { limit: 20, offset: 0, after: null };
/** How far a list is counted, and one. */
const COUNTED = 10_001;

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase({ schema: "payment", migrations: join(__dirname, "../../migrations") });
});
afterEach(() => database.drop());

test("a charge of thousands of parts is shown with the newest, and the others are not read", async () => {
  await fill(
    "charge_cancels",
    `insert into charge_cancels (org_id, cancel_id, charge_id, amount_won, created_at)
     select '${orgId}', 'ccl_' || lpad(n::text, 32, '0'), 'chg_1', n, now() from generate_series(1, 3000) n`,
  );
  let shown: bigint[] = [];
  const read = await rowsRead(database.db, "charge_cancels", async (tx) => {
    shown = (await listChargeCancels(tx, orgId, "chg_1")).map(({ amountWon }) => amountWon);
  });
  expect([shown.length, shown[0], shown.at(-1)]).toEqual([100, 2_901n, 3_000n]);
  expect(read).toBe(100);
});

// Of others first, as for an organisation that has come late, and of ours nearly all with one shop.
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
    `insert into payments (org_id, payment_id, status, payer_wallet_id, receiver_wallet_id, amount_won, government_won, incentive_won,
       normal_won, accrued_won, created_at)
     select ${ORG}, 'pay_' || ${ID}, 'PAID', 'wal_' || n, ${SHOP}, 100, 0, 0, 100, 0, now()`,
    listPayments,
  ],
  [
    "transfers",
    `insert into transfers (org_id, transfer_id, status, from_wallet_id, to_wallet_address, to_wallet_id, amount_won, created_at)
     select ${ORG}, 'trf_' || ${ID}, 'COMPLETED', 'wal_' || n, '0x', ${SHOP}, 1, now()`,
    listTransfers,
  ],
  [
    "charges",
    `insert into charges (org_id, charge_id, wallet_id, amount_won, balance_won, created_at)
     select ${ORG}, 'chg_' || ${ID}, ${SHOP}, 1000, 1000, now()`,
    listCharges,
  ],
];

test.each(LISTS)(
  "a page of many %s reads itself, and as many as are counted",
  async (table, insert, list) => {
    await fill(table, `${insert} from generate_series(1, 40000) n`);
    for (const walletId of [null, "wal_shop"]) {
      const found = { rows: 0, total: 0 };
      const read = await rowsRead(database.db, table, async (tx) => {
        const { rows, total } = await list(tx, orgId, walletId, PAGE);
        Object.assign(found, { rows: rows.length, total });
      });
      expect(found).toEqual({ rows: 21, total: COUNTED });
      expect(read).toBe(COUNTED + 21);
    }
  },
);

test("a transfer to the wallet that it comes from is one, in the page and in the count", async () => {
  await fill(
    "transfers",
    `insert into transfers (org_id, transfer_id, status, from_wallet_id, to_wallet_address, to_wallet_id, amount_won, created_at)
     select '${orgId}', 'trf_' || n, 'COMPLETED', 'wal_1', '0x', 'wal_' || n, 1, now() from generate_series(1, 3) n`,
  );
  const { rows, total } = await listTransfers(database.db, orgId, "wal_1", PAGE);
  expect([rows.length, total]).toEqual([3, 3]);
});

/** So that PostgreSQL knows of it, as it does of what has grown for years. */
async function fill(table: string, insert: string): Promise<void> {
  const owner = openTestDatabase(database.ownerUrl, "payment", { max: 1 });
  await owner.run(rawSql(insert));
  await owner.run(sql`analyze ${sql.identifier(table)}`);
  await owner.close();
}
