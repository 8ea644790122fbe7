import { rawSql } from "@wonrail/kit/db";
import { catchUp, deliver, deliverAll, journalPosted, readJournal } from "./testing/events";
import { crashAt } from "./testing/failpoints";
import { cancelCharge, cancelPayment, charge, pay, refund, transfer } from "./testing/commands";
import { openWorld, OUTSIDE, valueOf, type World } from "./testing/world";

// The journal's projection: duplicates, delays and another order give the same rows.

jest.mock("@wonrail/kit/failpoint", () => jest.requireActual("./testing/failpoints"));

const TABLES = ["transfers", "charges", "charge_cancels", "refunds", "payments"];

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await story();
}, 60_000);
beforeEach(() => forget());
afterAll(() => world.close());

/** Every kind of entry that has a record. */
async function story(): Promise<void> {
  const [payer, receiver] = [await world.openWallet({ amountWon: 20_000 }), await world.openWallet()];
  await world.execute(cancelCharge(payer.chargeId, 1_000, { memo: "part" }));
  await world.execute(cancelCharge(payer.chargeId, 2_000));
  await world.execute(transfer(payer.walletId, receiver.address, 1_000, { reference: "R" }));
  await world.execute(transfer(payer.walletId, OUTSIDE, 1_000));
  const paid = await world.execute(pay(payer.walletId, receiver.walletId, 2_000, { metadata: { a: "b" } }));
  await world.execute(pay(payer.walletId, receiver.walletId, 500));
  await world.execute(cancelPayment(valueOf(paid, "payment").paymentId));
  await world.execute(charge(payer.walletId, 3_000));
  await world.execute(refund(payer.walletId));
}

const rows = async () => {
  const { db } = world.databases.payment;
  const read = (table: string) => db.query(rawSql(`select * from ${table} order by 1, 2`));
  return Promise.all(TABLES.map(read));
};

async function forget(): Promise<void> {
  for (const table of TABLES) await world.databases.payment.db.run(rawSql(`delete from ${table}`));
}

test("rows do not depend on the order of the entries, on duplicates or on the size of the batches", async () => {
  await catchUp(world);
  const expected = await rows();
  expect(expected.map((each) => each.length)).toEqual([2, 2, 2, 1, 2]);
  const events = (await readJournal(world)).map(journalPosted);
  for (const batches of [
    [[...events].reverse()],
    events.map((event) => [event]),
    [...events].reverse().map((event) => [event, event]),
    [events, events.slice(0, 5), events],
  ]) {
    await forget();
    for (const batch of batches) await deliverAll(world, batch);
    expect(await rows()).toEqual(expected);
  }
});

test("a batch that is killed before its commit leaves nothing, and the next attempt writes it", async () => {
  await crashAt(world, "payment.projecting", () => catchUp(world));
  expect((await rows()).flat()).toEqual([]);
  await catchUp(world);
  expect((await rows()).map((each) => each.length)).toEqual([2, 2, 2, 1, 2]);
}, 60_000);

test("an entry that cannot be understood throws and does not become a record", async () => {
  const entries = await readJournal(world);
  const { original: _, ...bare } = entries.find(({ original }) => original !== undefined)!;
  await expect(deliver(world, journalPosted(bare))).rejects.toThrow("does not carry the entry");
  expect((await rows()).flat()).toEqual([]);
});

test("the lag is the age of the oldest event of a batch", async () => {
  await catchUp(world);
  expect(await world.metric("payment_projection_lag_seconds")).toBeGreaterThan(0);
});
