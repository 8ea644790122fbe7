import { type Json } from "../support/api";
import { krw, screen } from "./screen";
import { makeWallet, showBalances, until, type Demo } from "./demo";

/** An address that belongs to no wallet. */
export const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

export interface Cast {
  alice: Json;
  aliceIncentive: Json;
  shop: Json;
}

/** Charge, transfer, payment, cancellations, refund of a part: each with the balances after it. */
export async function moneyChapter(demo: Demo): Promise<Cast> {
  const { api } = demo;
  screen.chapter("Two users, three wallets");
  const alice = await makeWallet(demo, "alice", "NORMAL");
  const aliceIncentive = await makeWallet(demo, "alice", "INCENTIVE");
  const shop = await makeWallet(demo, "shop", "NORMAL");
  const cast = { alice, aliceIncentive, shop };
  const shown = { alice, "alice's incentive": aliceIncentive, shop };
  for (const [name, wallet] of Object.entries(shown))
    screen.line(`${name}: ${wallet.walletId} at ${wallet.walletAddress}`);

  screen.chapter("Charge and transfer");
  const charge = await api.post("/api/wallets/charge", {
    walletId: alice.walletId,
    amount: 50_000,
    memo: "top-up",
  });
  await api.post("/api/wallets/charge", { walletId: aliceIncentive.walletId, amount: 2_000 });
  screen.done(`charged ${krw(charge.amount)}, cancellable until ${charge.cancellableUntil}`);
  const transfer = { fromWalletId: alice.walletId, toWalletAddress: shop.walletAddress, amount: 1_000 };
  await api.post("/api/wallets/transfer", transfer);
  screen.done(`transferred ${krw(1_000)} to the shop, no gas for alice`);
  await showBalances(demo, shown);

  screen.chapter("A composite payment, and back");
  const order = {
    payerWalletId: alice.walletId,
    receiverWalletId: shop.walletId,
    amount: 12_000,
    memo: "order 1",
  };
  const payment = await api.post("/api/wallets/payment", order);
  const { breakdown, incentiveAccrued } = payment;
  screen.done(
    `paid ${krw(payment.amount)}: ${krw(breakdown.incentive)} incentive + ` +
      `${krw(breakdown.normal)} normal, accrued ${krw(incentiveAccrued)}`,
  );
  await showBalances(demo, shown);
  const cancelled = await api.post("/api/wallets/payment/cancel", { paymentId: payment.paymentId });
  screen.done(
    `cancelled: ${krw(cancelled.restored.incentive)} + ${krw(cancelled.restored.normal)} restored, ` +
      `${krw(cancelled.incentiveClawedBack)} clawed back`,
  );
  await showBalances(demo, shown);

  const { paymentId } = await refundOfAPart(demo, order);
  await showBalances(demo, shown);

  screen.chapter("Cancelling a part of the charge");
  const part = await api.post("/api/wallets/charge/cancel", { chargeId: charge.chargeId, amount: 20_000 });
  screen.done(`${part.status}: ${krw(part.cancelledAmount)} of ${krw(part.amount)}`);
  await showBalances(demo, shown);

  const { settlement, cancellation } = await until(
    () => api.get(`/api/wallets/payment/${payment.paymentId}`),
    (it) => it.cancellation.settlement.status === "CONFIRMED",
  );
  screen.done(`the payment is final on chain: ${settlement.txHash}, block ${settlement.blockNumber}`);
  const back = cancellation.settlement;
  screen.done(`so is its way back: ${back.txHash}, block ${back.blockNumber}`);
  const { refunds } = await until(
    () => api.get(`/api/wallets/payment/${paymentId}`),
    (it) => it.refunds[0].settlement.status === "CONFIRMED",
  );
  screen.done(`and the refund of a part: ${refunds[0].settlement.txHash}`);
  return cast;
}

/** Finds a payment by the partner's own reference, and returns a part of it. */
async function refundOfAPart({ api }: Demo, order: object): Promise<{ paymentId: string }> {
  screen.chapter("Found by its reference, and a part of it goes back");
  const reference = `order-${Date.now()}`;
  const notes = { memo: "order 2", reference, metadata: { till: "3" } };
  await api.post("/api/wallets/payment", { ...order, ...notes });
  const { items } = await until(
    () => api.get(`/api/wallets/payment?reference=${reference}`),
    (page) => page.items.length === 1,
  );
  const { paymentId } = items[0];
  const changed = await api.patch(`/api/wallets/payment/${paymentId}`, { metadata: { clerk: "kim" } });
  screen.done(`${reference} is ${paymentId}, with ${JSON.stringify(changed.metadata)}`);
  const { status, refund } = await api.post("/api/wallets/payment/refund", {
    ...{ paymentId, amount: 4_500, memo: "one item" },
  });
  screen.done(
    `${status}: ${krw(refund.restored.incentive)} + ${krw(refund.restored.normal)} restored, ` +
      `${krw(refund.incentiveClawedBack)} clawed back`,
  );
  return { paymentId };
}

/** A file with wrong rows moves nothing; the corrected one pays all. */
export async function payoutChapter({ api }: Demo, { alice, shop }: Cast): Promise<void> {
  screen.chapter("A payout from a file");
  const pay = async (amounts: number[], more: object) => {
    const records = amounts.map((amount, index) => `${shop.walletAddress},${amount},salary-${index}`);
    const csv = ["toWalletAddress,amount,reference", ...records].join("\n");
    const { payoutId } = await api.post("/api/payouts", { fromWalletId: alice.walletId, csv, ...more });
    return until(
      () => api.get(`/api/payouts/${payoutId}`),
      ({ status }) => status !== "PENDING",
    );
  };
  const refused = await pay([300, 900_000_000, 200], { mode: "ATOMIC" });
  const { items } = await api.get(`/api/payouts/${refused.payoutId}/rows?status=REFUSED`);
  screen.done(`${refused.status}, nothing moved: row ${items[0].index} has ${items[0].error.code}`);
  const trial = await pay([300, 200], { dryRun: true });
  screen.done(`a dry run accepts ${trial.acceptedCount} of ${trial.rowCount} rows`);
  const paid = await pay([300, 200], { mode: "ATOMIC" });
  screen.done(`${paid.status}: ${krw(paid.acceptedAmount)} in ${paid.acceptedCount} transfers`);
}

/** Money to an outside address: held, then posted when the chain is final. */
export async function outsideTransferChapter({ api }: Demo, { alice }: Cast): Promise<void> {
  screen.chapter("A transfer to an outside address");
  const body = { fromWalletId: alice.walletId, toWalletAddress: OUTSIDE, amount: 500 };
  const { transferId, status } = await api.post("/api/wallets/transfer", body);
  screen.line(`${krw(500)} to ${OUTSIDE}: ${status}, held until the chain is final`);
  const done = await until(
    () => api.get(`/api/wallets/transfer/${transferId}`),
    (transfer) => transfer.status === "COMPLETED",
  );
  screen.done(`COMPLETED in ${done.settlement.txHash}, block ${done.settlement.blockNumber}`);
}

export async function refundChapter(demo: Demo, { alice, shop }: Cast): Promise<void> {
  const { api } = demo;
  screen.chapter("Refund, and everything in one list");
  const refund = await api.post("/api/wallets/charge/refund", { walletId: alice.walletId });
  screen.done(`refunded the whole balance: ${krw(refund.amount)}`);
  await showBalances(demo, { alice, shop });
  const { items } = await api.get(`/api/wallets/${alice.walletId}/transactions?limit=20`);
  for (const line of items as Json[]) {
    const sign = line.direction === "OUT" ? "−" : "+";
    screen.line(
      `${line.type.padEnd(14)} ${`${sign}${krw(line.amount)}`.padStart(14)}   ` +
        `after ${krw(line.balanceAfter).padStart(12)}   ${line.settlement.status}`,
    );
  }
}
