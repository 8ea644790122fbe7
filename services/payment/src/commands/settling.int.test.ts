import { rawSql } from "@wonrail/kit/db";
import { SettlementStatus, TransferStatus } from "@wonrail/proto/payment/v1/payment";
import { catchUp, confirmed, deliver, deliverAll, failed, HASH, submitted } from "./testing/events";
import { cancelCharge, cancelPayment, pay, refund, transfer } from "./testing/commands";
import { asOwner, openWorld, OUTSIDE, valueOf, type World } from "./testing/world";

// Settlements follow chain-relayer's newest event, and end the holds of outside transfers.

let world: World;
beforeEach(async () => {
  world = await openWorld();
}, 60_000);
afterEach(() => world.close());

async function hold(amount = 1_000): Promise<{ walletId: string; transferId: string }> {
  const { walletId } = await world.openWallet({ amountWon: 5_000 });
  const { transferId } = valueOf(await world.execute(transfer(walletId, OUTSIDE, amount)), "transfer");
  await catchUp(world);
  return { walletId, transferId };
}

const read = (id: string) => world.app().getTransfer({ orgId: world.orgId, id });

test("a held transfer follows the chain and is posted once when its settlement is final", async () => {
  const { walletId, transferId } = await hold();
  await deliver(world, submitted(transferId));
  await world.app().settleTransfers();
  expect(await read(transferId)).toMatchObject({
    status: TransferStatus.PENDING,
    settlement: { status: SettlementStatus.SUBMITTED, txHash: HASH },
  });
  await deliver(world, confirmed(transferId));
  await deliver(world, confirmed(transferId));
  await Promise.all([world.app().settleTransfers(), world.app(1).settleTransfers()]);
  expect(await read(transferId)).toMatchObject({
    status: TransferStatus.COMPLETED,
    settlement: { status: SettlementStatus.CONFIRMED, txHash: HASH, blockNumber: 3n },
  });
  expect(await world.balances(walletId)).toEqual([4_000]);

  // The record in lists changes through the journal.
  const page = { limit: 5, offset: 0, after: null };
  const listed = async () => (await world.app().listTransfers({ orgId: world.orgId, walletId, page })).items;
  expect(await listed()).toMatchObject([{ status: TransferStatus.PENDING }]);
  await catchUp(world);
  expect(await listed()).toEqual([await read(transferId)]);
}, 60_000);

test("a failed transfer returns money and daily limit, and states the reason", async () => {
  const { walletId, transferId } = await hold(4_000);
  await deliver(world, failed(transferId, "the authorization expired unused"));
  await world.app().settleTransfers();
  expect(await read(transferId)).toMatchObject({
    status: TransferStatus.FAILED,
    failureReason: "the authorization expired unused",
    settlement: { status: SettlementStatus.FAILED },
  });
  const { accounts } = await world.ledger().getBalances({ orgId: world.orgId, accountIds: [walletId] });
  expect(accounts[0]).toMatchObject({ availableWon: "5000", transferredTodayWon: "0" });
}, 60_000);

test("the newest version wins: a false CONFIRMED is corrected by the next event", async () => {
  const { transferId } = await hold();
  world.relayerStatuses.set(transferId, "OPEN");
  await deliver(world, confirmed(transferId, { version: 1n, txHash: "0xfa15e" }));
  await world.app().settleTransfers();
  expect(await read(transferId)).toMatchObject({
    status: TransferStatus.PENDING,
    settlement: { status: SettlementStatus.CONFIRMED, txHash: "0xfa15e" },
  });
  await deliver(world, submitted(transferId, { version: 2n }));
  expect((await read(transferId)).settlement).toMatchObject({
    ...{ status: SettlementStatus.SUBMITTED, txHash: HASH, blockNumber: undefined },
  });
}, 60_000);

test("a stale SUBMITTED does not overwrite a newer hash, alone or in one batch with it", async () => {
  const { transferId } = await hold();
  const [early, late] = [new Date("2026-11-01T00:00:00Z"), new Date("2026-11-01T00:00:01Z")];
  const older = submitted(transferId, { version: 1n, txHash: "0x01d", changedAt: early });
  const newer = submitted(transferId, { version: 2n, txHash: "0x0e3", changedAt: late });
  await deliver(world, newer);
  await deliver(world, older);
  expect((await read(transferId)).settlement!.txHash).toBe("0x0e3");

  // A replacement transaction may share the version. The later event wins.
  const sameVersion = submitted(transferId, { version: 2n, txHash: "0x0e4", changedAt: new Date() });
  await deliverAll(world, [sameVersion, newer, older]);
  expect((await read(transferId)).settlement!.txHash).toBe("0x0e4");
}, 60_000);

test("an event that chain-relayer does not confirm leaves the hold open", async () => {
  const { walletId, transferId } = await hold();
  world.relayerStatuses.set(transferId, "OPEN");
  await deliver(world, confirmed(transferId));
  await world.app().settleTransfers();
  expect(await world.metric("payment_settlement_mismatches_total")).toBe(1);
  expect((await read(transferId)).status).toBe(TransferStatus.PENDING);
  expect(await world.balances(walletId)).toEqual([5_000]);
  world.relayerStatuses.set(transferId, "CONFIRMED");
  await world.app().settleTransfers();
  expect((await read(transferId)).status).toBe(TransferStatus.COMPLETED);
}, 60_000);

test("a settlement that arrives before its record ends the transfer", async () => {
  const { walletId } = await world.openWallet({ amountWon: 5_000 });
  const { transferId } = valueOf(await world.execute(transfer(walletId, OUTSIDE, 1_000)), "transfer");
  await deliver(world, confirmed(transferId));
  await catchUp(world);
  await world.app().settleTransfers();
  expect((await read(transferId)).status).toBe(TransferStatus.COMPLETED);
}, 60_000);

test("a settled transfer without its mark is marked by the sweep", async () => {
  const { transferId } = await hold();
  await deliver(world, confirmed(transferId));
  await asOwner(world.databases.payment, "update transfers set settled_at = null");
  await world.app().settleTransfers();
  expect((await read(transferId)).status).toBe(TransferStatus.PENDING);
  expect(await world.app().markMissedSettled()).toBe(1);
  await world.app().settleTransfers();
  expect((await read(transferId)).status).toBe(TransferStatus.COMPLETED);
}, 60_000);

test("transfers that the ledger refuses to end do not stop the others", async () => {
  const { walletId, transferId } = await hold();
  // The ledger has no holds for these.
  await asOwner(
    world.databases.payment,
    `insert into transfers (org_id, transfer_id, status, from_wallet_id, to_wallet_address, amount_won, version, created_at)
     select org_id,
       'trf_' || lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7000800000000000'
         || lpad(n::text, 4, '0'),
       status, from_wallet_id, to_wallet_address, amount_won, 1, created_at - interval '1 hour'
     from transfers, generate_series(1, 450) n`,
  );
  await asOwner(
    world.databases.payment,
    `insert into settlements (org_id, ledger_ref, version, changed_at, status, network, tx_hash, block_number)
     select org_id, transfer_id, 1, now(), 'CONFIRMED', 'N', '0x', 1 from transfers where transfer_id <> '${transferId}'`,
  );
  await deliver(world, confirmed(transferId));
  expect(await world.app().markMissedSettled()).toBe(450);

  await expect(world.app().settleTransfers()).rejects.toThrow("450 transfers could not be ended");
  expect(await world.balances(walletId)).toEqual([4_000]);
  await catchUp(world);
  const stopped = world.app().settleTransfers(AbortSignal.abort());
  await expect(stopped).rejects.toThrow("200 transfers could not be ended");
}, 60_000);

test("a record and its cancellation settle independently", async () => {
  const { orgId } = world;
  const [payer, receiver] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
  const { chargeId } = payer;
  const paid = await world.execute(pay(payer.walletId, receiver.walletId, 1_000, { incentive: 0 }));
  const { paymentId } = valueOf(paid, "payment");
  await deliverAll(world, [confirmed(paymentId), confirmed(chargeId)]);

  const cancelled = valueOf(await world.execute(cancelPayment(paymentId)), "cancelledPayment");
  const part = valueOf(await world.execute(cancelCharge(chargeId, 500)), "cancelledCharge");
  const pending = { status: SettlementStatus.PENDING };
  // An answer holds the settlement of the command's own entry only.
  expect(cancelled).toMatchObject({ settlement: pending, cancellation: { settlement: pending } });
  expect(part).toMatchObject({ charge: { settlement: pending }, cancellation: { settlement: pending } });

  const { cancelId } = cancelled.cancellation!;
  await catchUp(world);
  await deliverAll(world, [submitted(cancelId), submitted(part.cancellation!.cancelId)]);
  const own = { status: SettlementStatus.CONFIRMED, txHash: HASH, blockNumber: 3n };
  const way = { status: SettlementStatus.SUBMITTED, txHash: HASH };
  const page = { limit: 5, offset: 0, after: null };
  const { items } = await world.app().listPayments({ orgId, walletId: payer.walletId, page });
  for (const found of [await world.app().getPayment({ orgId, id: paymentId }), ...items])
    expect(found).toMatchObject({ settlement: own, cancellation: { cancelId, settlement: way } });
  expect(await world.app().getCharge({ orgId, id: chargeId })).toMatchObject({
    ...{ charge: { settlement: own }, cancellations: [{ settlement: way }] },
  });
}, 60_000);

test("a refund is followed on the chain", async () => {
  const { walletId } = await world.openWallet({ amountWon: 5_000 });
  const { refundId: id } = valueOf(await world.execute(refund(walletId)), "refund");
  await deliver(world, confirmed(id));
  const { settlement } = await world.app().getRefund({ orgId: world.orgId, id });
  expect(settlement).toMatchObject({ status: SettlementStatus.CONFIRMED, txHash: HASH });
}, 60_000);

test("the age of the oldest PENDING transfer is a metric", async () => {
  await hold();
  await asOwner(world.databases.payment, "update transfers set created_at = now() - interval '2 hours'");
  expect(await world.metric("payment_pending_transfers_oldest_seconds")).toBeGreaterThanOrEqual(7_200);
  await world.databases.payment.db.run(rawSql("delete from transfers"));
  expect(await world.metric("payment_pending_transfers_oldest_seconds")).toBe(0);
}, 60_000);
