import { newId } from "@wonrail/kit/contract/ids";
import { rawSql } from "@wonrail/kit/db";
import { rebuildRecords } from "./rebuildRecords";
import { beginRebuild, findRebuild } from "../store/rebuilds";
import { catchUp, confirmed, deliver, depositCredited, failed, listed, submitted } from "./testing/events";
import { runAtPoint, crashAt } from "./testing/failpoints";
import {
  cancelCharge,
  cancelPayment,
  charge,
  pay,
  refund,
  refundPayment,
  transfer,
} from "./testing/commands";
import { asOwner, openWorld, OUTSIDE, type TestWallet, valueOf, type World } from "./testing/world";

// A rebuild recreates the records from the journal, while commands and the projection continue.

jest.mock("@wonrail/kit/failpoint", () => jest.requireActual("./testing/failpoints"));

const TABLES = [
  ...["transfers", "charges", "charge_cancels", "refunds", "payments", "payment_refunds"],
  "settlements",
];

let world: World;
let payer: TestWallet;
let receiver: TestWallet;

beforeEach(async () => {
  published.length = 0;
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
  const other = await world.execute(pay(payer.walletId, receiver.walletId, 2_000));
  const { paymentId } = valueOf(other, "payment");
  for (const amount of [300, 500]) await world.execute(refundPayment(paymentId, amount, { memo: "part" }));
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

type PublishedEvent = Parameters<typeof listed>[0] & Parameters<typeof deliver>[1];

const published: PublishedEvent[] = [];

/** chain-relayer changes an operation and publishes the event. */
async function publish(...events: PublishedEvent[]): Promise<void> {
  published.push(...events);
  for (const event of events) world.relayerLists.set(event.listed.ledgerRef, listed(event));
  for (const event of events) await deliver(world, event);
}

test("dropped records are rebuilt while commands run, as if they had never been dropped", async () => {
  await catchUp(world);
  for (const table of TABLES) await db().run(rawSql(`delete from ${table}`));
  // Commands and the projection run in the middle of the rebuild.
  runAtPoint("payment.rebuilding", async () => {
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
  expect(rebuilt.map((each) => each.length)).toEqual([10, 6, 5, 5, 10, 10, 0]);
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
  const { organisations, isFinished, entries } = (await findRebuild(db(), id))!;
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
  expect((await findRebuild(db(), id))!.isFinished).toBe(true);
  expect(await rows()).toEqual(expected);
}, 60_000);

test("a rebuild keeps cancellations whose original was detached from the ledger", async () => {
  const { walletId, chargeId } = await world.openWallet({ amountWon: 5_000 });
  const paid = await world.execute(pay(payer.walletId, receiver.walletId, 2_000, { memo: "old" }));
  const other = await world.execute(pay(payer.walletId, receiver.walletId, 2_000, { memo: "old" }));
  const { lastSequence } = await world
    .ledger()
    .listJournal({ orgId: world.orgId, afterSequence: 0n, limit: 1 });
  await world.execute(cancelCharge(chargeId, 1_000));
  await world.execute(cancelPayment(valueOf(paid, "payment").paymentId));
  await world.execute(refundPayment(valueOf(other, "payment").paymentId, 700));
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
  const relayer = { listSettlements: async () => ({ settlements: [] }) };
  await rebuildRecords({
    ...{ db: db(), relayer },
    ledger: { listJournal, listJournalHeads: ledger.listJournalHeads },
  });
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
    runAtPoint("payment.rebuilding", look);
  };
  runAtPoint("payment.rebuilding", look);
  await rebuild();
  runAtPoint("nowhere", async () => undefined);
  expect(steps).toBeGreaterThan(4);
}, 60_000);

test("a rebuild keeps settlements and the mark that ends a hold", async () => {
  const { walletId } = await world.openWallet({ amountWon: 5_000 });
  const { transferId } = valueOf(await world.execute(transfer(walletId, OUTSIDE, 1_000)), "transfer");
  await catchUp(world);
  await publish(confirmed(transferId));
  await rebuild();
  await world.app().settleTransfers();
  expect(await world.balances(walletId)).toEqual([4_000]);
  await world.execute(charge(walletId, 1_000));
}, 60_000);

/** Operations and deposits in every state, some of them changed twice. */
async function settleSome(): Promise<void> {
  for (let round = 0; round < 8; round += 1) {
    const [sent, done, lost] = [newId("pay"), newId("chg"), newId("trf")];
    await publish(submitted(sent), submitted(done), submitted(lost));
    await publish(submitted(sent, { version: 2n, txHash: `0x${"c".repeat(64)}` }));
    await publish(confirmed(done, { version: 2n }), failed(lost, "expired", { version: 2n }));
    await publish(depositCredited(newId("trf"), OUTSIDE));
  }
}

test("a rebuild corrects settlements while newer events arrive, as if they had never been damaged", async () => {
  await settleSome();
  // The id of `waiting` comes first, so that the first page has it.
  const [waiting, sent] = [newId("ccl"), newId("pay")];
  await publish(submitted(waiting), submitted(sent));
  await catchUp(world);
  const owner = (statement: string) => asOwner(world.databases.payment, statement);
  await owner("delete from settlements where ledger_ref like 'chg_%'");
  await owner("update settlements set version = version + 1000 where ledger_ref like 'trf_%'");
  await owner("update settlements set tx_hash = '0xf0', network = 'forged' where ledger_ref like 'pay_%'");
  await owner(
    `insert into settlements (org_id, ledger_ref, version, changed_at, status, network)
     values ('${world.orgId}', '${newId("pay")}', 7, now(), 'SUBMITTED', 'forged')`,
  );
  runAtPoint("payment.rebuilding", async () => {
    await story();
    await publish(confirmed(sent, { version: 2n }), submitted(newId("pay")));
    // The pages that were read have the operation as SUBMITTED.
    runAtPoint("payment.settlements_read", () => publish(confirmed(waiting, { version: 2n })));
  });
  const id = await rebuild();
  expect((await findRebuild(db(), id))!.settlements).toBeGreaterThan(30n);
  await catchUp(world);
  const rebuilt = await rows();

  await world.loseDatabase();
  await catchUp(world);
  for (const event of [...published].reverse()) await deliver(world, event);
  expect(rebuilt.at(-1)).toHaveLength(35);
  expect(rebuilt).toEqual(await rows());
}, 60_000);
