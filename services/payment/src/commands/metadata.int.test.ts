import { rawSql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { type UpdateMetadataResponse } from "@wonrail/proto/payment/v1/payment";
import { MetadataChanged } from "@wonrail/proto/payment/events/v1/events";
import { beginRebuild } from "../store/rebuilds";
import { catchUp } from "./testing/events";
import {
  cancelCharge,
  cancelPayment,
  charge,
  type Command,
  pay,
  refund,
  refundPayment,
  transfer,
} from "./testing/commands";
import { asOwner, openWorld, valueOf, type World } from "./testing/world";

// Partners change the metadata of an object after its command. The ledger entry stays as it is.

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterAll(() => world.close());

const NOTES = { reference: "order-7", metadata: { shop: "A", till: "3" } };

/** Makes an object of each kind with NOTES. */
async function makeObjects(): Promise<Record<string, string>> {
  const [payer, receiver] = [await world.openWallet({ amountWon: 50_000 }), await world.openWallet()];
  const charged = await world.execute(charge(payer.walletId, 5_000, NOTES));
  const { chargeId } = valueOf(charged, "charge");
  const cancelled = await world.execute(cancelCharge(chargeId, 1_000, NOTES));
  const paid = await world.execute(pay(payer.walletId, receiver.walletId, 2_000, { ...NOTES, incentive: 0 }));
  const { paymentId } = valueOf(paid, "payment");
  const returned = await world.execute(cancelPayment(paymentId, NOTES));
  const other = await world.execute(pay(payer.walletId, receiver.walletId, 2_000, { incentive: 0 }));
  const { paymentId: refundedId } = valueOf(other, "payment");
  const part = await world.execute(refundPayment(refundedId, 500, NOTES));
  const moved = await world.execute(transfer(payer.walletId, receiver.address, 1_000, NOTES));
  const refunded = await world.execute(refund(payer.walletId, NOTES));
  return {
    transfer: valueOf(moved, "transfer").transferId,
    charge: chargeId,
    chargeCancellation: valueOf(cancelled, "cancelledCharge").cancellation!.cancelId,
    refund: valueOf(refunded, "refund").refundId,
    payment: paymentId,
    paymentCancellation: valueOf(returned, "cancelledPayment").cancellation!.cancelId,
    paymentRefund: valueOf(part, "refundedPayment").refund!.refundId,
  };
}

function change(id: string, set: Record<string, string>, remove: string[] = []) {
  return world.app().updateMetadata({ orgId: world.orgId, id, set, remove });
}

function notesOf({ object }: UpdateMetadataResponse) {
  const value = object!.$case === "charge" ? object!.value.charge! : object!.value;
  return { reference: value.reference, metadata: value.metadata };
}

test("each kind of object merges its pairs, and reads and lists show them", async () => {
  const ids = await makeObjects();
  for (const [kind, id] of Object.entries(ids)) {
    const answer = await change(id, { till: "4", clerk: "kim" }, ["shop"]);
    expect(answer.object!.$case).toBe(kind);
    expect(notesOf(answer)).toEqual({ reference: "order-7", metadata: { till: "4", clerk: "kim" } });
    // A repetition changes nothing.
    expect(await change(id, { till: "4", clerk: "kim" }, ["shop"])).toEqual(answer);
  }
  await catchUp(world);
  const { app, orgId } = world;
  const metadata = { till: "4", clerk: "kim" };
  const key = (kind: string) => ({ orgId, id: ids[kind]! });
  const wanted = {
    orgId,
    walletId: null,
    filter: { reference: "order-7" },
    page: { limit: 5, offset: 0, after: null },
  };
  expect(await app().getTransfer(key("transfer"))).toMatchObject({ metadata });
  expect(await app().getRefund(key("refund"))).toMatchObject({ metadata });
  expect(await app().getCharge(key("charge"))).toMatchObject({
    charge: { metadata },
    cancellations: [{ metadata }],
  });
  expect(await app().getPayment(key("payment"))).toMatchObject({
    payment: { metadata, cancellation: { metadata } },
  });
  expect((await app().listTransfers(wanted)).items).toMatchObject([{ transferId: ids.transfer, metadata }]);
  expect((await app().listRefunds(wanted)).items).toMatchObject([{ refundId: ids.refund, metadata }]);
  expect((await app().listCharges(wanted)).items).toMatchObject([{ chargeId: ids.charge, metadata }]);
  expect((await app().listPayments(wanted)).items).toMatchObject([
    { paymentId: ids.payment, metadata, cancellation: { metadata } },
  ]);
});

test("a replay of the command answers the metadata of the command", async () => {
  const { walletId } = await world.openWallet();
  const command = charge(walletId, 2_000, NOTES);
  const { chargeId } = valueOf(await world.execute(command, "once"), "charge");
  await change(chargeId, { till: "9" });
  const replay = await world.execute(command, "once");
  expect(valueOf(replay, "charge").metadata).toEqual(NOTES.metadata);
});

test("the balance in an answer is the balance after its own call, also when the answer is replayed", async () => {
  const { walletId } = await world.openWallet();
  const balanceOf = async (command: Command, key: string) => {
    const { outcome } = await world.execute(command, key);
    return outcome!.$case === "cancelledCharge"
      ? outcome!.value.charge!.balanceWon
      : (outcome!.value as { balanceWon: string }).balanceWon;
  };
  const first = charge(walletId, 2_000);
  const { chargeId } = valueOf(await world.execute(first, "first"), "charge");
  const calls: [Command, string, string][] = [
    [first, "first", "2000"],
    [charge(walletId, 3_000), "second", "5000"],
    [cancelCharge(chargeId, 500), "part", "4500"],
    [charge(walletId, 1_000), "third", "5500"],
    [cancelCharge(chargeId), "rest", "4000"],
  ];
  for (const [command, key, balance] of calls) expect(await balanceOf(command, key)).toBe(balance);
  for (const [command, key, balance] of calls) expect(await balanceOf(command, key)).toBe(balance);
});

test("concurrent changes of one object lose no pair", async () => {
  const { chargeId } = await world.openWallet({ amountWon: 2_000 });
  const names = ["a", "b", "c", "d", "e", "f"];
  await Promise.all(names.map((name) => change(chargeId, { [name]: name })));
  const { charge } = await world.app().getCharge({ orgId: world.orgId, id: chargeId });
  expect(Object.keys(charge.metadata).sort()).toEqual(names);
});

test("an eleventh pair is refused and changes nothing", async () => {
  const { chargeId } = await world.openWallet({ amountWon: 2_000 });
  const pairs = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, "v"]));
  await change(chargeId, pairs(10));
  await expect(change(chargeId, { another: "v" })).rejects.toMatchObject({ code: "REQ_001" });
  // A pair may take the place of a deleted one.
  expect(notesOf(await change(chargeId, { another: "v" }, ["k0"])).metadata).toEqual({
    ...pairs(10),
    k0: undefined,
    another: "v",
  });
});

test.each([
  ["trf", "TRF_005"],
  ["chg", "CHG_002"],
  ["ccl", "CHG_002"],
  ["rfd", "CHG_002"],
  ["pay", "PAY_004"],
  ["pcl", "PAY_004"],
  ["prf", "PAY_004"],
] as const)("an absent object %s and one of another organisation are %s", async (prefix, code) => {
  await expect(change(newId(prefix), { a: "b" })).rejects.toMatchObject({ code });
  const ids = Object.values(await makeObjects());
  const id = ids.find((one) => one.startsWith(prefix))!;
  const foreign = world.app().updateMetadata({ orgId: newId("org"), id, set: { a: "b" }, remove: [] });
  await expect(foreign).rejects.toMatchObject({ code });
});

test("a rebuild of the records keeps changed metadata", async () => {
  const { chargeId } = await world.openWallet({ amountWon: 2_000 });
  await catchUp(world);
  await change(chargeId, { till: "5" });
  await asOwner(world.databases.payment, "delete from charges");
  await beginRebuild(world.databases.payment.db, "operator:test");
  await world.app().rebuildRecords();
  const page = { limit: 100, offset: 0, after: null };
  const { items } = await world.app().listCharges({ orgId: world.orgId, walletId: null, page });
  expect(items.find((one) => one.chargeId === chargeId)?.metadata).toEqual({ till: "5" });
});

test("each change is one event with all pairs, and a repetition is none", async () => {
  const { chargeId } = await world.openWallet({ amountWon: 2_000 });
  await change(chargeId, { a: "1" });
  await change(chargeId, { b: "2" });
  await change(chargeId, { b: "2" });
  const events = await world.databases.payment.db.query<{ version: bigint; payload: Buffer }>(
    rawSql(`select version, payload from outbox where aggregate_id = '${chargeId}' order by version`),
  );
  expect(events.map(({ version, payload }) => [version, MetadataChanged.decode(payload).metadata])).toEqual([
    [1n, { a: "1" }],
    [2n, { a: "1", b: "2" }],
  ]);
});

test("cancellations whose month left the ledger are read from the projection", async () => {
  const ids = await makeObjects();
  await catchUp(world);
  const [old, oldCharge] = [
    newId("pcl", Date.now() - 90 * 86_400_000),
    newId("ccl", Date.now() - 90 * 86_400_000),
  ];
  await asOwner(
    world.databases.payment,
    `update payments set cancel_id = '${old}' where cancel_id = '${ids.paymentCancellation}'`,
  );
  await asOwner(
    world.databases.payment,
    `update charge_cancels set cancel_id = '${oldCharge}' where cancel_id = '${ids.chargeCancellation}'`,
  );
  for (const id of [old, oldCharge])
    expect(notesOf(await change(id, { late: "yes" })).metadata).toEqual({ ...NOTES.metadata, late: "yes" });
});
