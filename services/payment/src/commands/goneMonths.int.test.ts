import { randomUUID } from "node:crypto";
import { rawSql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { asOwner, type Command, openWorld, valueOf, type World } from "./testing/world";

const LONG_AGO_MS = Date.now() - 90 * 24 * 3_600_000;

let world: World;

beforeEach(async () => {
  world = await openWorld();
}, 60_000);
afterEach(() => world.close());

test("what was open when its month left the ledger is not written down as refused; perhaps it was posted", async () => {
  const { walletId } = await world.openWallet();
  const command: Command = { $case: "charge", value: { walletId, amountWon: "1000", memo: undefined } };
  const key = randomUUID();
  await world.execute(command, key);
  const old = newId("chg", LONG_AGO_MS);
  await asOwner(
    world.payment,
    `update operations set operation_id = '${old}', state = 'CLAIMED', answer = null, updated_at = now() - interval '6 seconds'`,
  );
  await world.app().finishAbandoned();
  await expect(world.execute(command, key)).rejects.toMatchObject({ code: "SYS_003" });
  const state = await world.payment.db.one(rawSql("select state from operations"));
  expect(state).toEqual({ state: "CLAIMED" });
}, 60_000);

test("a payment that has left the ledger with its month is not called unknown, but too long ago or cancelled", async () => {
  const [payer, receiver] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
  const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
  const value = { ...ids, amountWon: "1000", incentiveAmountWon: "0", memo: undefined };
  valueOf(await world.execute({ $case: "pay", value }), "payment");
  const paymentId = newId("pay", LONG_AGO_MS);
  await asOwner(world.payment, `update payments set payment_id = '${paymentId}'`);
  const cancel: Command = { $case: "cancelPayment", value: { paymentId, memo: undefined } };
  const key = randomUUID();
  for (const replayed of [false, true])
    expect(await world.execute(cancel, key)).toMatchObject({ replayed, ...refused("PAY_007") });
  await asOwner(world.payment, "update payments set status = 'CANCELLED', cancel_id = 'pcl_1'");
  expect(await world.execute(cancel)).toMatchObject(refused("PAY_003"));
  const nobodys: Command = { $case: "cancelPayment", value: { paymentId: newId("pay"), memo: undefined } };
  expect(await world.execute(nobodys)).toMatchObject(refused("PAY_004"));
  expect(await world.balances(payer.walletId, receiver.walletId)).toEqual([4_000, 1_000]);
}, 60_000);

test("a charge that has left the ledger with its month is not called unknown, but out of time or cancelled", async () => {
  const { walletId } = await world.openWallet({ amountWon: 5_000 });
  const chargeId = newId("chg", LONG_AGO_MS);
  await asOwner(
    world.payment,
    `update charges set charge_id = '${chargeId}', created_at = now() - interval '90 days'`,
  );
  const cancelOf = (id: string): Command => ({
    $case: "cancelCharge",
    value: { chargeId: id, amountWon: undefined, memo: undefined },
  });
  expect(await world.execute(cancelOf(chargeId))).toMatchObject(refused("CHG_004"));
  await asOwner(world.payment, "update charges set cancelled_won = amount_won");
  expect(await world.execute(cancelOf(chargeId))).toMatchObject(refused("CHG_003"));
  expect(await world.execute(cancelOf(newId("chg")))).toMatchObject(refused("CHG_002"));
  expect(await world.balances(walletId)).toEqual([5_000]);
}, 60_000);

function refused(code: string) {
  return { outcome: { $case: "error", value: { code } } };
}
