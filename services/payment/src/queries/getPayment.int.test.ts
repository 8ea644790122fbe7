import { readPage } from "@wonrail/kit/page";
import { type Payment } from "@wonrail/proto/payment/v1/payment";
import { asOwner, type Command, openWorld, valueOf, type World } from "../commands/testing/world";

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterAll(() => world.close());

const read = (id: string): Promise<Payment> => world.app().getPayment({ orgId: world.orgId, id });
const cancelOf = (paymentId: string): Command => ({
  $case: "cancelPayment",
  value: { paymentId, memo: "sent back" },
});

/** Of a payment whose accrual is spent in part, so that the rest of it is kept from the normal part. */
async function payAndSpendAccrual(): Promise<Payment> {
  const [payer, receiver] = [await world.openWallet({ amountWon: 10_000 }), await world.openWallet()];
  const pay = async (amountWon: string, incentiveAmountWon: string) => {
    const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
    const value = { ...ids, amountWon, incentiveAmountWon, memo: "lunch" };
    return valueOf(await world.execute({ $case: "pay", value }), "payment");
  };
  const paid = await pay("4000", "0");
  await pay("120", "120");
  return paid;
}

test("what the cancellation of a payment did is told as its answer told it, in lists too", async () => {
  const { orgId } = world;
  const { paymentId, payerWalletId } = await payAndSpendAccrual();
  expect((await read(paymentId)).cancellation).toBeUndefined();
  const { payment, cancelId, ...amounts } = valueOf(
    await world.execute(cancelOf(paymentId), "once"),
    "cancelledPayment",
  );
  expect(amounts).toEqual({
    ...{ restoredIncentiveWon: "0", restoredNormalWon: "3880" },
    ...{ incentiveClawedBackWon: "80", keptFromNormalWon: "120" },
  });
  expect(payment!.cancellation).toMatchObject({ cancelId, memo: "sent back", amounts });
  expect(await read(paymentId)).toEqual(payment);
  const page = readPage({ limit: 5 }, () => true);
  const { items } = await world.app().listPayments({ orgId, walletId: payerWalletId, page });
  expect(items.map(({ cancellation }) => cancellation)).toEqual([undefined, payment!.cancellation]);

  // It is as old as its line in the wallet, and what was answered once is answered again.
  const lines = { orgId, walletId: payerWalletId, types: ["PAYMENT_CANCEL"], from: undefined, to: undefined };
  const { transactions } = await world.app().listWalletTransactions({ ...lines, page });
  expect(transactions.map(({ createdAt }) => createdAt)).toEqual([payment!.cancellation!.createdAt]);
  const again = valueOf(await world.execute(cancelOf(paymentId), "once"), "cancelledPayment");
  expect(again).toEqual({ payment, cancelId, ...amounts });
}, 60_000);

test("a payment that the release before has cancelled since says when, and nothing of what is not known", async () => {
  const { paymentId } = await payAndSpendAccrual();
  await asOwner(
    world.payment,
    `update payments set status = 'CANCELLED', cancel_id = 'pcl_1', version = version + 1, updated_at = now()
     where payment_id = '${paymentId}'`,
  );
  const { cancellation, updatedAt } = await read(paymentId);
  expect(cancellation).toMatchObject({ cancelId: "pcl_1", createdAt: updatedAt });
  expect([cancellation!.memo, cancellation!.amounts]).toEqual([undefined, undefined]);
}, 60_000);
