import { rawSql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { EventEnvelope } from "@wonrail/proto/common/v1/common";
import { SettlementStatus, TransferStatus } from "@wonrail/proto/payment/v1/payment";
import { OperationConfirmed, OperationSubmitted } from "@wonrail/proto/relayer/events/v1/events";
import { settlements } from "../consumers";
import { findReading, moveReading } from "../store/outboxReadings";
import { published } from "./testing/events";
import { openWorld, OUTSIDE, valueOf, type World } from "./testing/world";

// What chain-relayer gave to the bus and the bus has not brought.

const HASH = `0x${"b".repeat(64)}`;

let world: World;
beforeEach(async () => {
  world = await openWorld();
}, 60_000);
afterEach(() => world.close());

test("of replicas that go through the same events one goes on, and one that comes late does not go back", async () => {
  const { db } = world.payment;
  const begun = await Promise.all([moveReading(db, "s", 0n, 5n), moveReading(db, "s", 0n, 5n)]);
  expect(begun.toSorted()).toEqual([false, true]);
  expect([await moveReading(db, "s", 5n, 9n), await moveReading(db, "s", 5n, 7n)]).toEqual([true, false]);
  expect(await findReading(db, "s")).toBe(9n);
}, 60_000);

test("a charge whose events are lost comes to say what chain-relayer says, once, whatever comes again", async () => {
  const { chargeId } = await world.openWallet({ amountWon: 5_000 });
  world.relayerEvents.push(submitted(chargeId), confirmed(chargeId));
  await look();
  expect(await settlementOf(chargeId)).toMatchObject({
    status: SettlementStatus.CONFIRMED,
    txHash: HASH,
    blockNumber: 3n,
  });
  expect(await world.metric("payment_missed_events_total")).toBe(2);
  const told = await published(world, chargeId);

  await look();
  world.relayerEvents.push(submitted(chargeId));
  await world.payment.db.run(rawSql("update outbox_readings set position = 0"));
  await look();
  expect(await settlementOf(chargeId)).toMatchObject({ status: SettlementStatus.CONFIRMED });
  expect(await published(world, chargeId)).toEqual(told);
  expect(await world.metric("payment_missed_events_total")).toBe(3);
}, 60_000);

test("one that is SUBMITTED and whose last word alone is lost is CONFIRMED, and what came by the bus is not missed", async () => {
  const { chargeId } = await world.openWallet({ amountWon: 5_000 });
  const first = submitted(chargeId);
  // As the bus has brought it.
  world.relayerEvents.push(first);
  await look();
  expect(await settlementOf(chargeId)).toMatchObject({ status: SettlementStatus.SUBMITTED });
  world.relayerEvents.push({ ...first }, confirmed(chargeId), recordChanged());
  await look();
  expect(await settlementOf(chargeId)).toMatchObject({ status: SettlementStatus.CONFIRMED });
  expect(await world.metric("payment_missed_events_total")).toBe(2);
  expect(await findReading(world.payment.db, "chain-relayer")).toBe(4n);
}, 60_000);

test("an outside transfer whose last word is lost is ended", async () => {
  const { walletId } = await world.openWallet({ amountWon: 5_000 });
  const value = { fromWalletId: walletId, toWalletAddress: OUTSIDE, amountWon: "1000", memo: undefined };
  const { transferId } = valueOf(await world.execute({ $case: "transfer", value }), "transfer");
  world.relayerEvents.push(confirmed(transferId));
  await look();
  await world.app().settleTransfers();
  const read = await world.app().getTransfer({ orgId: world.orgId, id: transferId });
  expect(read).toMatchObject({ status: TransferStatus.COMPLETED });
  expect(await world.balances(walletId)).toEqual([4_000]);
}, 60_000);

test("one that cannot be worked on is put aside, and keeps none behind it waiting", async () => {
  const { chargeId } = await world.openWallet({ amountWon: 5_000 });
  world.relayerEvents.push({ ...confirmed(chargeId), payload: Buffer.from([0xff]) }, confirmed(chargeId));
  await look();
  expect(await settlementOf(chargeId)).toMatchObject({ status: SettlementStatus.CONFIRMED });
  const dead = rawSql("select count(*) as dead from dead_letters");
  expect(await world.payment.db.one(dead)).toEqual({ dead: 1n });
}, 60_000);

test("two replicas take in the same once, and while chain-relayer is away nothing moves", async () => {
  const { chargeId } = await world.openWallet({ amountWon: 5_000 });
  const before = await published(world, chargeId);
  world.relayerEvents.push(...Array.from({ length: 9 }, () => submitted(chargeId)), confirmed(chargeId));
  await Promise.all([look(), look(), look()]);
  await look();
  expect(await findReading(world.payment.db, "chain-relayer")).toBe(10n);
  expect(await settlementOf(chargeId)).toMatchObject({ status: SettlementStatus.CONFIRMED });
  expect((await published(world, chargeId)).length).toBeGreaterThan(before.length);

  await world.stop("chain-relayer");
  await expect(look()).rejects.toMatchObject({ retryable: true });
  expect(await findReading(world.payment.db, "chain-relayer")).toBe(10n);
}, 60_000);

function look(): Promise<void> {
  return world.app().takeMissedEvents(settlements(world.app()), new AbortController().signal);
}

async function settlementOf(id: string) {
  return (await world.app().getCharge({ orgId: world.orgId, id })).charge.settlement;
}

function submitted(ledgerRef: string): EventEnvelope {
  const word = OperationSubmitted.fromPartial({ ledgerRef, network: "N", txHash: HASH });
  return envelope("operation_submitted", ledgerRef, OperationSubmitted.encode(word).finish());
}

function confirmed(ledgerRef: string): EventEnvelope {
  const word = OperationConfirmed.fromPartial({ ledgerRef, network: "N", txHash: HASH, blockNumber: 3n });
  return envelope("operation_confirmed", ledgerRef, OperationConfirmed.encode(word).finish());
}

/** Of no concern to payment. */
function recordChanged(): EventEnvelope {
  return envelope("record_changed", newId("txn"), Buffer.alloc(0));
}

function envelope(eventType: string, aggregateId: string, payload: Uint8Array): EventEnvelope {
  const { orgId } = world;
  const of = { eventType, aggregateId, orgId, payload: Buffer.from(payload) };
  return EventEnvelope.fromPartial({ eventId: newId("evt"), version: 1n, occurredAt: new Date(), ...of });
}
