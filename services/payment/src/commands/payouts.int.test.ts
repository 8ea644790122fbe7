import { createHash, randomUUID } from "node:crypto";
import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import {
  type CreatePayoutRequest,
  type NewPayoutRow,
  type Payout,
  PayoutMode,
  PayoutRowStatus,
  PayoutStatus,
} from "@wonrail/proto/payment/v1/payment";
import { PayoutProgressed } from "@wonrail/proto/payment/events/v1/events";
import { createPayout } from "./createPayout";
import { catchUp } from "./testing/events";
import { crashAt } from "./testing/failpoints";
import { openWorld, OUTSIDE, type TestWallet, type World } from "./testing/world";

jest.mock("@wonrail/kit/failpoint", () => jest.requireActual("./testing/failpoints"));

const { ATOMIC, BEST_EFFORT } = PayoutMode;
const MODES = { ATOMIC, BEST_EFFORT };

let world: World;
let payer: TestWallet;
let payees: TestWallet[];

beforeAll(async () => {
  world = await openWorld();
}, 60_000);
beforeEach(async () => {
  payer = await world.openWallet({ amountWon: 100_000 });
  payees = await Promise.all([world.openWallet(), world.openWallet(), world.openWallet()]);
});
afterAll(async () => {
  expect(await world.violations()).toEqual([]);
  await world.close();
});

function rowOf(toWalletAddress: string, amount: number, more: Partial<NewPayoutRow> = {}): NewPayoutRow {
  return { toWalletAddress, amountWon: String(amount), metadata: {}, ...more };
}

function requestOf(rows: NewPayoutRow[], more: Partial<CreatePayoutRequest> = {}): CreatePayoutRequest {
  const bodyHash = createHash("sha256").update(JSON.stringify(rows)).digest();
  const { orgId } = world;
  return { orgId, bodyHash, fromWalletId: payer.walletId, mode: ATOMIC, dryRun: false, rows, ...more };
}

/** Creates a payout and works on it until it has ended. */
async function pay(rows: NewPayoutRow[], more: Partial<CreatePayoutRequest> = {}): Promise<Payout> {
  const { payout } = await world.app().createPayout(requestOf(rows, more));
  await world.app().runPayouts();
  return world.app().getPayout({ orgId: world.orgId, payoutId: payout!.payoutId });
}

async function rowsOf({ payoutId }: Payout) {
  const page = { limit: 100, offset: 0, after: null };
  const wanted = { orgId: world.orgId, payoutId, status: undefined, page };
  return (await world.app().listPayoutRows(wanted)).items;
}

/** The outcome of each row: its status, or the code of its refusal. */
async function outcomesOf(payout: Payout): Promise<string[]> {
  return (await rowsOf(payout)).map(
    ({ status, error }) => error?.code ?? status.replace("PAYOUT_ROW_STATUS_", ""),
  );
}

const balances = () => world.balances(payer.walletId, ...payees.map(({ walletId }) => walletId));
const addresses = () => payees.map(({ address }) => address);

/** Enough for two rows, not for three. */
const goodAndBad = () => {
  const [first, second, third] = addresses();
  return [
    rowOf(first!, 1_000, { memo: "salary", reference: "R-1", metadata: { month: "11" } }),
    rowOf("0x0000000000000000000000000000000000000000", 1_000),
    rowOf(second!, 99_500),
    rowOf(third!, 500),
  ];
};

test("a best effort payout posts the good rows and tells why each other row was refused", async () => {
  const payout = await pay(goodAndBad(), { mode: BEST_EFFORT });
  expect(payout).toMatchObject({
    ...{ status: PayoutStatus.COMPLETED, rowCount: 4, acceptedCount: 2, refusedCount: 2, skippedCount: 0 },
    ...{ totalAmountWon: "102000", acceptedAmountWon: "1500", completedAt: expect.any(Date) },
  });
  expect(await outcomesOf(payout)).toEqual(["ACCEPTED", "TRF_002", "TRF_001", "ACCEPTED"]);
  expect(await balances()).toEqual([98_500, 1_000, 0, 500]);
  const [first, zero] = await rowsOf(payout);
  expect(JSON.parse(zero!.error!.detailsJson!)).toMatchObject({ fields: [{ path: "toWalletAddress" }] });
  const transfer = await world.app().getTransfer({ orgId: world.orgId, id: first!.transferId! });
  expect(transfer).toMatchObject({ memo: "salary", reference: "R-1", metadata: { month: "11" } });
});

test("a best effort payout tells its progress after each step, and an atomic payout its end alone", async () => {
  const rows = Array.from({ length: 501 }, () => rowOf(addresses()[0]!, 1));
  const published = async ({ payoutId }: Payout) => {
    const events = await world.db().query<{ type: string; version: bigint; payload: Buffer }>(sql`
      select type, version, payload from outbox where aggregate_id = ${payoutId} order by version`);
    return events.map(({ type, version, payload }) => {
      const { acceptedCount } = PayoutProgressed.decode(payload).payout!;
      return [type, version, acceptedCount];
    });
  };
  expect(await published(await pay(rows, { mode: BEST_EFFORT }))).toEqual([
    ["payout_created", 1n, 0],
    ["payout_progressed", 501n, 500],
    ["payout_completed", 502n, 501],
  ]);
  expect(await published(await pay(rows))).toEqual([
    ["payout_created", 1n, 0],
    ["payout_completed", 502n, 501],
  ]);
});

test("an atomic payout with wrong rows names them and moves nothing", async () => {
  const payout = await pay(goodAndBad());
  expect(payout).toMatchObject({ status: PayoutStatus.REFUSED, acceptedCount: 0, acceptedAmountWon: "0" });
  expect(await outcomesOf(payout)).toEqual(["SKIPPED", "TRF_002", "TRF_001", "SKIPPED"]);
  expect(await balances()).toEqual([100_000, 0, 0, 0]);
});

test("an atomic payout that the ledger refuses moves nothing, also not later", async () => {
  const rows = addresses().map((address) => rowOf(address, 40_000));
  const payout = await pay(rows);
  expect(await outcomesOf(payout)).toEqual(["SKIPPED", "SKIPPED", "TRF_001"]);
  await world.app().runPayouts();
  expect(await balances()).toEqual([100_000, 0, 0, 0]);
});

test("an atomic payout without wrong rows posts all of them, outside transfers as holds", async () => {
  const payout = await pay([...addresses().map((address) => rowOf(address, 1_000)), rowOf(OUTSIDE, 2_000)]);
  expect(payout).toMatchObject({
    status: PayoutStatus.COMPLETED,
    acceptedCount: 4,
    acceptedAmountWon: "5000",
  });
  expect(await balances()).toEqual([97_000, 1_000, 1_000, 1_000]);
  const rows = await rowsOf(payout);
  const outside = await world.app().getTransfer({ orgId: world.orgId, id: rows[3]!.transferId! });
  expect(outside).toMatchObject({ status: "TRANSFER_STATUS_PENDING", amountWon: "2000" });
  await catchUp(world);
  const page = { limit: 10, offset: 0, after: null };
  const { items } = await world.app().listTransfers({
    ...{ orgId: world.orgId, walletId: payer.walletId, status: undefined, filter: {}, page },
  });
  expect(items.map(({ transferId }) => transferId).sort()).toEqual(rows.map((row) => row.transferId).sort());
});

test.each([
  ["ATOMIC", ["SKIPPED", "TRF_002", "TRF_001", "SKIPPED"]],
  ["BEST_EFFORT", ["ACCEPTED", "TRF_002", "TRF_001", "ACCEPTED"]],
] as const)("a dry run of %s tells the outcomes and moves nothing", async (mode, outcomes) => {
  const payout = await pay(goodAndBad(), { mode: MODES[mode], dryRun: true });
  expect(await outcomesOf(payout)).toEqual(outcomes);
  expect((await rowsOf(payout)).map(({ transferId }) => transferId)).toEqual(Array(4).fill(undefined));
  expect(await balances()).toEqual([100_000, 0, 0, 0]);
  // The keys of the rows stay unused, so the same rows can be paid.
  expect(await outcomesOf(await pay(addresses().map((address) => rowOf(address, 1_000))))).toEqual(
    Array(3).fill("ACCEPTED"),
  );
});

describe("rows with a rehearsed refusal", () => {
  const refusal = { code: "TRF_003", detailsJson: '{"dailyLimit":5000000,"usedToday":4900000}' };
  const rehearsed = () => {
    const [first, second, third] = addresses();
    const row = rowOf(second!, 1_000, { idempotencyKey: randomUUID(), rehearsedRefusal: refusal });
    return [rowOf(first!, 1_000), row, rowOf(third!, 1_000)];
  };

  test("a best effort payout refuses the row alone, and its key is still free", async () => {
    const rows = rehearsed();
    const { payout: created } = await world.app().createPayout(requestOf(rows, { mode: BEST_EFFORT }));
    // A row has no error before its outcome.
    expect(await outcomesOf(created!)).toEqual(["PENDING", "PENDING", "PENDING"]);
    await world.app().runPayouts();
    expect(await outcomesOf(created!)).toEqual(["ACCEPTED", "TRF_003", "ACCEPTED"]);
    const { error } = (await rowsOf(created!))[1]!;
    expect(JSON.parse(error!.detailsJson!)).toEqual(JSON.parse(refusal.detailsJson));
    expect(await balances()).toEqual([98_000, 1_000, 0, 1_000]);
    const again = await pay([{ ...rows[1]!, rehearsedRefusal: undefined }]);
    expect(await outcomesOf(again)).toEqual(["ACCEPTED"]);
  });

  test.each([
    ["an atomic payout", { mode: ATOMIC }],
    ["its dry run", { mode: ATOMIC, dryRun: true }],
  ])("%s refuses the row, skips the others and moves nothing", async (_name, more) => {
    const payout = await pay(rehearsed(), more);
    expect(payout.status).toBe(PayoutStatus.REFUSED);
    expect(await outcomesOf(payout)).toEqual(["SKIPPED", "TRF_003", "SKIPPED"]);
    expect(await balances()).toEqual([100_000, 0, 0, 0]);
  });

  test.each([
    ["an unknown code", { code: "NO_CODE", detailsJson: undefined }],
    ["details that are no JSON", { ...refusal, detailsJson: "a text" }],
    ["details that are no object", { ...refusal, detailsJson: "[]" }],
  ])("a refusal with %s is refused and stores nothing", async (_name, rehearsedRefusal) => {
    const before = await newestPayout();
    const rows = [rowOf(addresses()[0]!, 1_000, { rehearsedRefusal })];
    await expect(world.app().createPayout(requestOf(rows))).rejects.toMatchObject({
      ...{ code: "REQ_001", details: { fields: [{ path: "rows[0].rehearsedRefusal" }] } },
    });
    expect(await newestPayout()).toEqual(before);
  });

  test("a main network refuses the request and stores nothing", async () => {
    const before = await newestPayout();
    const facts = { requireWallet: () => Promise.reject(new Error("the row is refused before")) };
    const deps = { db: world.db(), facts, network: "WON_MAINNET" };
    await expect(createPayout(deps, requestOf(rehearsed()))).rejects.toMatchObject({
      ...{ code: "REQ_001", details: { fields: [{ path: "rows[1].memo" }] } },
    });
    expect(await newestPayout()).toEqual(before);
  });
});

test("a key makes one payout, replays it as it was made, and refuses another body", async () => {
  const rows = [rowOf(addresses()[0]!, 1_000)];
  const keyed = requestOf(rows, { idempotencyKey: "november" });
  const attempts = await Promise.all(Array.from({ length: 10 }, () => world.app().createPayout(keyed)));
  await world.app().runPayouts();
  const again = await world.app(1).createPayout(keyed);
  expect(new Set([...attempts, again].map(({ payout }) => payout!.payoutId)).size).toBe(1);
  expect(attempts.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(again).toEqual({ replayed: true, payout: attempts[0]!.payout });
  expect(await balances()).toEqual([99_000, 1_000, 0, 0]);
  const other = { ...keyed, bodyHash: Buffer.alloc(32, 1) };
  await expect(world.app().createPayout(other)).rejects.toMatchObject({ code: "REQ_003" });
});

test("a row's own key pays it once over several payouts, and a refused atomic payout leaves it unused", async () => {
  const [first, second] = addresses();
  const salary = rowOf(first!, 1_000, { idempotencyKey: "2026-11/kim" });
  expect(await outcomesOf(await pay([salary, rowOf(second!, 1_000_000)]))).toEqual(["SKIPPED", "TRF_001"]);
  const paid = await pay([salary, rowOf(second!, 500)]);
  for (const mode of [ATOMIC, BEST_EFFORT]) {
    const again = await pay([salary, rowOf(second!, 500)], { mode });
    expect(await outcomesOf(again)).toEqual(["ACCEPTED", "ACCEPTED"]);
    expect((await rowsOf(again))[0]!.transferId).toBe((await rowsOf(paid))[0]!.transferId);
  }
  expect(await balances()).toEqual([97_500, 1_000, 1_500, 0]);
  const changed = await pay([{ ...salary, amountWon: "2000" }, rowOf(second!, 500)]);
  expect(await outcomesOf(changed)).toEqual(["REQ_003", "SKIPPED"]);
});

test("an absent wallet, no row, too many rows, a key twice and too large a sum are refused at once", async () => {
  const row = rowOf(addresses()[0]!, 1_000);
  const refused = (rows: NewPayoutRow[], more: Partial<CreatePayoutRequest> = {}) =>
    world
      .app()
      .createPayout(requestOf(rows, more))
      .then(
        () => "made",
        (error: { code: string; details: object }) => `${error.code} ${JSON.stringify(error.details)}`,
      );
  const before = await newestPayout();
  const absent = newId("wal");
  expect(await refused([row], { fromWalletId: absent })).toBe(`WAL_002 {"walletId":"${absent}"}`);
  expect(await refused([])).toMatch(/^REQ_001 .*"rows"/);
  expect(await refused(Array(10_001).fill(row))).toMatch(/^REQ_001 .*"rows"/);
  const twice = { ...row, idempotencyKey: "one" };
  expect(await refused([twice, row, twice])).toMatch(/rows\[2\].idempotencyKey/);
  expect(await refused([row, { ...row, amountWon: "0" }])).toMatch(/rows\[1\].amount/);
  expect(await refused(Array(2).fill({ ...row, amountWon: "9007199254740991" }))).toMatch(/"rows"/);
  expect(await newestPayout()).toEqual(before);
});

const POINTS = [
  "payment.payout_posted",
  "payment.payout_recording",
  "ledger.before_commit",
  "ledger.committed",
];
const crashes = POINTS.flatMap((point) =>
  (["ATOMIC", "BEST_EFFORT"] as const).map((mode) => ({ point, mode })),
);

test.each(crashes)(
  "a payout of mode $mode pays each row once when everything dies at $point",
  async ({ point, mode }) => {
    const rows = addresses().map((address) => rowOf(address, 1_000));
    const { payout } = await world.app().createPayout(requestOf(rows, { mode: MODES[mode] }));
    await crashAt(world, point, () => world.app().runPayouts());
    await endLeases();
    await world.app(1).runPayouts();
    const key = { orgId: world.orgId, payoutId: payout!.payoutId };
    const after = await world.app().getPayout(key);
    expect(after).toMatchObject({ status: PayoutStatus.COMPLETED, acceptedCount: 3, refusedCount: 0 });
    expect(await balances()).toEqual([97_000, 1_000, 1_000, 1_000]);
  },
);

test("an atomic payout that was refused stays refused when everything dies before the outcome is stored", async () => {
  const rows = addresses().map((address) => rowOf(address, 40_000));
  const { payout } = await world.app().createPayout(requestOf(rows));
  await crashAt(world, "payment.payout_posted", () => world.app().runPayouts());
  await world.openWallet();
  // Now the money would be enough.
  const charged = await world.openWallet({ amountWon: 50_000 });
  await pay([rowOf(payer.address, 50_000)], { fromWalletId: charged.walletId });
  await endLeases();
  await world.app().runPayouts();
  expect(await outcomesOf(payout!)).toEqual(["SKIPPED", "SKIPPED", "TRF_001"]);
  expect(await balances()).toEqual([150_000, 0, 0, 0]);
});

test("a payout whose creation dies before the commit does not exist, and its key makes it", async () => {
  const keyed = requestOf([rowOf(addresses()[0]!, 1_000)], { idempotencyKey: randomUUID() });
  await crashAt(world, "payment.payout_storing", () => world.app().createPayout(keyed));
  await world.app().runPayouts();
  expect(await balances()).toEqual([100_000, 0, 0, 0]);
  expect(await world.app().createPayout(keyed)).toMatchObject({ replayed: false });
});

test.each(["ATOMIC", "BEST_EFFORT"] as const)(
  "two replicas at one %s payout pay each row once",
  async (mode) => {
    const rows = addresses().map((address) => rowOf(address, 1_000));
    const { payout } = await world.app().createPayout(requestOf(rows, { mode: MODES[mode] }));
    const busy = world.app().runPayouts();
    await endLeases();
    await Promise.all([busy, world.app(1).runPayouts()]);
    const after = await world.app().getPayout({ orgId: world.orgId, payoutId: payout!.payoutId });
    expect(after).toMatchObject({ status: PayoutStatus.COMPLETED, acceptedCount: 3 });
    expect(await balances()).toEqual([97_000, 1_000, 1_000, 1_000]);
  },
);

test("a payout waits while the ledger is away and goes on afterwards", async () => {
  const rows = addresses().map((address) => rowOf(address, 1_000));
  const { payout } = await world.app().createPayout(requestOf(rows, { mode: BEST_EFFORT }));
  await world.stop("ledger");
  await expect(world.app().runPayouts()).rejects.toThrow();
  expect(await outcomesOf(payout!)).toEqual(["PENDING", "PENDING", "PENDING"]);
  await world.crash();
  await endLeases();
  await world.app().runPayouts();
  expect(await balances()).toEqual([97_000, 1_000, 1_000, 1_000]);
});

test("rows are listed in their order, by cursor and by status", async () => {
  const rows = Array.from({ length: 5 }, (_, index) => rowOf(addresses()[0]!, index === 3 ? 1_000_000 : 1));
  const payout = await pay(rows, { mode: BEST_EFFORT });
  const list = (after: string | null, status?: "REFUSED") =>
    world.app().listPayoutRows({
      ...{ orgId: world.orgId, payoutId: payout.payoutId, status },
      page: { limit: 2, offset: 0, after },
    });
  const first = await list(null);
  expect(first.items.map(({ index }) => index)).toEqual([0, 1]);
  const cursor = Buffer.from(first.info.nextCursor!, "base64url").toString();
  expect((await list(cursor)).items.map(({ index }) => index)).toEqual([2, 3]);
  const { items, info } = await list(null, "REFUSED");
  expect(items.map(({ index, status }) => [index, status])).toEqual([[3, PayoutRowStatus.REFUSED]]);
  expect(info.hasNext).toBe(false);
  const foreign = { orgId: newId("org"), payoutId: payout.payoutId };
  await expect(world.app().getPayout(foreign)).rejects.toMatchObject({ code: "PYO_001" });
});

async function newestPayout() {
  const page = { limit: 1, offset: 0, after: null };
  return (await world.app().listPayouts({ orgId: world.orgId, status: undefined, page })).items;
}

async function endLeases(): Promise<void> {
  await world.databases.payment.db.run(sql`update payouts set leased_until = '-infinity'`);
}
