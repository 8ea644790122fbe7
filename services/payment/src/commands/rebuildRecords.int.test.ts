import { newId } from "@wonrail/kit/contract/ids";
import { rawSql } from "@wonrail/kit/db";
import { rebuildRecords } from "./rebuildRecords";
import { beginRebuild, readRebuild } from "../store/rebuilds";
import { catchUp, confirmed, deliver } from "./testing/events";
import { doAt, crashAt } from "./testing/failpoints";
import { cancelCharge, cancelPayment, charge, pay, refund, transfer } from "./testing/commands";
import { asOwner, openWorld, OUTSIDE, type TestWallet, valueOf, type World } from "./testing/world";

// A rebuild recreates the records from the journal, while commands and the projection continue.

jest.mock("@wonrail/kit/failpoint", () => jest.requireActual("./testing/failpoints"));

const TABLES = ["transfers", "charges", "charge_cancels", "refunds", "payments"];

let world: World;
let payer: TestWallet;
let receiver: TestWallet;

beforeEach(async () => {
  world = await openWorld();
  [payer, receiver] = [await world.openWallet({ amountWon: 100_000 }), await world.openWallet()];
  for (let round = 0; round < 3; round += 1) await story();
}, 60_000);
afterEach(() => world.close());

async function story(): Promise<void> {
  const { chargeId, walletId } = await world.openWallet({ amountWon: 5_000 });
  await world.execute(cancelCharge(chargeId, 1_000, { memo: "part" }));
  await world.execute(refund(walletId));
  await world.execute(transfer(payer.walletId, receiver.address, 1_000, { reference: "R" }));
  await world.execute(transfer(payer.walletId, OUTSIDE, 1_000));
  const paid = await world.execute(pay(payer.walletId, receiver.walletId, 2_000, { metadata: { a: "b" } }));
  await world.execute(cancelPayment(valueOf(paid, "payment").paymentId));
}

const db = () => world.databases.payment.db;

/** Columns that readers see. The mark of a settled transfer has its own time. */
const rows = () =>
  Promise.all(
    TABLES.map((table) => {
      const columns = table === "transfers" ? "to_jsonb(t) - 'settled_at' as row" : "to_jsonb(t) as row";
      return db().query(rawSql(`select ${columns} from ${table} t order by org_id, 1`));
    }),
  );

async function rebuild(): Promise<bigint> {
  const id = await beginRebuild(db(), "operator:test");
  await world.app().rebuildRecords();
  return id;
}

test("dropped records are rebuilt completely while commands run", async () => {
  await catchUp(world);
  for (const table of TABLES) await db().run(rawSql(`delete from ${table}`));
  // Commands and the projection run in the middle of the rebuild.
  doAt("payment.rebuilding", async () => {
    await story();
    await catchUp(world);
  });
  const id = await rebuild();
  await story();
  await catchUp(world);
  const rebuilt = await rows();

  await world.loseDatabase();
  await catchUp(world);
  expect(rebuilt).toEqual(await rows());
  expect(rebuilt.map((each) => each.length)).toEqual([10, 6, 5, 5, 5]);
  expect(id).toBeGreaterThan(0n);
}, 60_000);

test("a rebuild repairs wrong rows, deletes rows without an entry and keeps rows of detached months", async () => {
  await catchUp(world);
  const expected = await rows();
  const owner = (statement: string) => asOwner(world.databases.payment, statement);
  await owner("update charges set cancelled_won = 7, version = version + 1000");
  await owner("update payments set memo = 'forged'");
  await owner(
    `insert into refunds (org_id, refund_id, wallet_id, amount_won, version, created_at)
     values ('${world.orgId}', '${newId("rfd")}', 'wal_1', 1, 9999, now())`,
  );
  const stranger = newId("org");
  await owner(
    `insert into refunds (org_id, refund_id, wallet_id, amount_won, version, created_at)
     values ('${stranger}', '${newId("rfd")}', 'wal_1', 1, 1, now())`,
  );
  const id = await rebuild();
  await owner(`delete from refunds where org_id = '${stranger}'`);
  expect(await rows()).toEqual(expected);
  const { organisations, isFinished, entries } = await readRebuild(db(), id);
  expect({ organisations, isFinished }).toEqual({ organisations: 1n, isFinished: true });
  expect(entries).toBeGreaterThan(20n);
}, 60_000);

test("a killed rebuild resumes at its position, and two replicas share it", async () => {
  await catchUp(world);
  const expected = await rows();
  const id = await beginRebuild(db(), "operator:test");
  await crashAt(world, "payment.rebuilding", () => world.app().rebuildRecords());
  expect(await beginRebuild(db(), "operator:other")).toBe(id);
  await Promise.all([world.app().rebuildRecords(), world.app(1).rebuildRecords()]);
  expect((await readRebuild(db(), id)).isFinished).toBe(true);
  expect(await rows()).toEqual(expected);
}, 60_000);

test("a rebuild keeps cancellations whose original was detached from the ledger", async () => {
  const { walletId, chargeId } = await world.openWallet({ amountWon: 5_000 });
  const paid = await world.execute(pay(payer.walletId, receiver.walletId, 2_000, { memo: "old" }));
  const { lastSequence } = await world
    .ledger()
    .listJournal({ orgId: world.orgId, afterSequence: 0n, limit: 1 });
  await world.execute(cancelCharge(chargeId, 1_000));
  await world.execute(cancelPayment(valueOf(paid, "payment").paymentId));
  await world.execute(charge(walletId, 1_000));
  await catchUp(world);
  const expected = await rows();

  await beginRebuild(db(), "operator:test");
  const ledger = world.ledger();
  // As after the months up to that sequence have left the journal.
  const listJournal: typeof ledger.listJournal = async (request, options) => {
    const afterSequence = request.afterSequence > lastSequence ? request.afterSequence : lastSequence;
    const page = await ledger.listJournal({ ...request, afterSequence }, options);
    return { ...page, entries: page.entries.map((entry) => ({ ...entry, original: undefined })) };
  };
  await rebuildRecords({ db: db(), ledger: { listJournal, listJournalHeads: ledger.listJournalHeads } });
  expect(await rows()).toEqual(expected);
}, 60_000);

test("lists keep their rows during a rebuild", async () => {
  await catchUp(world);
  const list = async () => {
    const page = { limit: 20, offset: 0, after: null };
    return (await world.app().listPayments({ orgId: world.orgId, walletId: null, page })).items;
  };
  const before = await list();
  let steps = 0;
  const look = async () => {
    steps += 1;
    expect(await list()).toEqual(before);
    doAt("payment.rebuilding", look);
  };
  doAt("payment.rebuilding", look);
  await rebuild();
  doAt("nowhere", async () => undefined);
  expect(steps).toBeGreaterThan(4);
}, 60_000);

test("a rebuild keeps settlements and the mark that ends a hold", async () => {
  const { walletId } = await world.openWallet({ amountWon: 5_000 });
  const { transferId } = valueOf(await world.execute(transfer(walletId, OUTSIDE, 1_000)), "transfer");
  await catchUp(world);
  await deliver(world, confirmed(transferId));
  await rebuild();
  await world.app().settleTransfers();
  expect(await world.balances(walletId)).toEqual([4_000]);
  await world.execute(charge(walletId, 1_000));
}, 60_000);
