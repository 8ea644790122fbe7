import { idAt, newId } from "@wonrail/kit/contract/ids";
import { catchUp } from "./testing/events";
import { cancelCharge, cancelPayment, charge, pay, refundPayment, transfer } from "./testing/commands";
import { openOldWorld, type OldWorld } from "./testing/oldMonths";
import { asOwner, openWorld, requestOf, valueOf, type World } from "./testing/world";

// The ledger's journal loses its old months. The records of payment stay.

const LONG_AGO_MS = Date.now() - 90 * 24 * 3_600_000;

let world: World;
afterEach(() => world.close());

describe("a record whose month was detached from the ledger", () => {
  beforeEach(async () => {
    world = await openWorld();
  }, 60_000);

  test("a payment is read from the projection, and its cancellation or refund is PAY_007 or PAY_003", async () => {
    const [payer, receiver] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
    await world.execute(pay(payer.walletId, receiver.walletId, 1_000, { incentive: 0, memo: "old" }));
    const refunded = await world.execute(pay(payer.walletId, receiver.walletId, 1_000, { incentive: 0 }));
    const { paymentId: refundedId } = valueOf(refunded, "payment");
    const part = valueOf(await world.execute(refundPayment(refundedId, 400)), "refundedPayment");
    await catchUp(world);
    const [paymentId, oldRefundedId] = [newId("pay", LONG_AGO_MS), newId("pay", LONG_AGO_MS)];
    const owner = (statement: string) => asOwner(world.databases.payment, statement);
    for (const table of ["payments", "payment_refunds"])
      await owner(`update ${table} set payment_id = '${oldRefundedId}' where payment_id = '${refundedId}'`);
    await owner(`update payments set payment_id = '${paymentId}' where memo = 'old'`);
    const read = await world.app().getPayment({ orgId: world.orgId, id: paymentId });
    expect(read).toMatchObject({ payment: { paymentId, memo: "old" }, refunds: [] });
    expect(await world.app().getPayment({ orgId: world.orgId, id: oldRefundedId })).toEqual({
      payment: { ...part.payment, paymentId: oldRefundedId },
      refunds: [part.refund],
    });
    expect(await world.execute(refundPayment(paymentId, 1))).toMatchObject(refused("PAY_007"));
    for (const replayed of [false, true])
      expect(await world.execute(cancelPayment(paymentId), "once")).toMatchObject({
        ...{ replayed, ...refused("PAY_007") },
      });
    await owner(
      `update payments set cancel_id = 'pcl_1', cancelled_at = now(), restored_incentive_won = 0,
         restored_normal_won = 1000, clawed_back_won = accrued_won, kept_won = 0
       where payment_id = '${paymentId}'`,
    );
    expect(await world.execute(cancelPayment(paymentId))).toMatchObject(refused("PAY_003"));
    expect(await world.execute(refundPayment(paymentId, 1))).toMatchObject(refused("PAY_003"));
    expect(await world.execute(cancelPayment(newId("pay")))).toMatchObject(refused("PAY_004"));
    expect(await world.balances(payer.walletId, receiver.walletId)).toEqual([3_400, 1_600]);
  }, 60_000);

  test("a charge is read from the projection, and its cancellation is CHG_004 or CHG_003", async () => {
    const { walletId } = await world.openWallet({ amountWon: 5_000 });
    await catchUp(world);
    const chargeId = newId("chg", LONG_AGO_MS);
    const owner = (change: string) => asOwner(world.databases.payment, `update charges set ${change}`);
    await owner(`charge_id = '${chargeId}', created_at = now() - interval '90 days'`);
    const read = await world.app().getCharge({ orgId: world.orgId, id: chargeId });
    expect(read).toMatchObject({ charge: { chargeId }, cancellations: [] });
    expect(await world.execute(cancelCharge(chargeId))).toMatchObject(refused("CHG_004"));
    await owner("cancelled_won = amount_won");
    expect(await world.execute(cancelCharge(chargeId))).toMatchObject(refused("CHG_003"));
    expect(await world.execute(cancelCharge(newId("chg")))).toMatchObject(refused("CHG_002"));
    expect(await world.balances(walletId)).toEqual([5_000]);
  }, 60_000);
});

describe("a scheduled transfer whose month was detached from the ledger", () => {
  let old: OldWorld;
  beforeEach(async () => {
    old = await openOldWorld();
    ({ world } = old);
  }, 60_000);

  test("is refused about operationId when it was never posted", async () => {
    const [payer, shop] = [await world.openWallet({ amountWon: 10_000 }), await world.openWallet()];
    await old.monthLeaves();
    await world.crash();
    const recordId = newId("txn");
    const command = transfer(payer.walletId, shop.address, 1_000);
    const request = {
      ...requestOf(world.orgId, command, recordId),
      operationId: idAt("trf", old.oldMs, recordId),
    };
    for (let attempt = 0; attempt < 2; attempt += 1)
      await expect(world.app().execute(request)).rejects.toMatchObject({
        code: "REQ_001",
        details: { fields: [{ path: "operationId" }] },
      });
    expect(await world.balances(payer.walletId, shop.walletId)).toEqual([10_000, 0]);
    valueOf(await world.execute(charge(shop.walletId, 1_000)), "charge");
  }, 60_000);
});

function refused(code: string) {
  return { outcome: { $case: "error", value: { code } } };
}
