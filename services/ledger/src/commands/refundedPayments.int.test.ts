import fc from "fast-check";
import { won } from "@wonrail/kit/contract/money";
import { newId } from "@wonrail/kit/contract/ids";
import { type PaymentCancelled, paymentCancelled } from "../domain/results";
import type { Intent } from "../domain/intents";
import type { Outcome } from "../domain/types";
import { getEntries } from "../queries/getEntries";
import { balancesOf, codeOf, postTo, requestOf, soundLedger } from "./testing/ledger";

const ledger = soundLedger();

interface Paid {
  paymentRequestId: string;
  wallets: string[];
}

async function pay(incentiveWon: bigint, normalWon: bigint, accrualRateBps: number): Promise<Paid> {
  const [payer, shop] = [newId("req"), newId("req")];
  const payerWalletId = await ledger.open(payer, "NORMAL", 1_000_000n);
  const incentive = await ledger.open(payer, "INCENTIVE", 10_000n);
  const receiverWalletId = await ledger.open(shop, "NORMAL");
  const payment = requestOf(ledger.orgId, {
    ...{ kind: "payment", payerWalletId, receiverWalletId, accrualRateBps },
    ...{ amountWon: won(incentiveWon + normalWon), incentiveAmountWon: won(incentiveWon) },
  });
  expect(codeOf(await postTo(ledger.engine, payment))).toBe("posted");
  return { paymentRequestId: payment.requestId, wallets: [payerWalletId, incentive, receiverWalletId] };
}

const refundOf = ({ paymentRequestId }: Paid, amount: bigint): Intent => ({
  ...{ kind: "refundPayment", paymentRequestId, amountWon: won(amount) },
});

function returnedBy(outcome: Outcome): PaymentCancelled {
  if (outcome.status === "refused") throw new Error(`refused with ${outcome.code}`);
  return paymentCancelled(outcome.entry.postings);
}

test("parts that are refunded at the same time add up exactly to the payment and its accrual", async () => {
  const payments = fc.record({
    incentiveWon: fc.bigInt(0n, 3_000n),
    normalWon: fc.bigInt(1n, 50_000n),
    rate: fc.integer({ min: 0, max: 10_000 }),
    cuts: fc.array(fc.bigInt(1n, 20_000n), { maxLength: 9 }),
  });
  await fc.assert(
    fc.asyncProperty(payments, async ({ incentiveWon, normalWon, rate, cuts }) => {
      const payment = await pay(incentiveWon, normalWon, rate);
      const amountWon = incentiveWon + normalWon;
      const ends = [...new Set([...cuts.filter((cut) => cut < amountWon), amountWon])].sort(byAmount);
      const parts = ends.map((end, index) => end - (ends[index - 1] ?? 0n));
      const outcomes = await Promise.all(parts.map((part) => ledger.post(refundOf(payment, part))));
      const returned = outcomes.map(returnedBy);
      const sumOf = (field: keyof PaymentCancelled) => returned.reduce((sum, part) => sum + part[field], 0n);
      expect([sumOf("restoredNormalWon"), sumOf("restoredIncentiveWon")]).toEqual([normalWon, incentiveWon]);
      expect(sumOf("incentiveClawedBackWon")).toBe((normalWon * BigInt(rate)) / 10_000n);
      expect(await balancesOf(ledger, payment.wallets)).toEqual([1_000_000n, 10_000n, 0n]);
      expect(codeOf(await ledger.post(refundOf(payment, 1n)))).toBe("PAY_009");
      expect(await ledger.violations()).toEqual([]);
    }),
    { numRuns: 15 },
  );
}, 120_000);

test("twenty refunds at the same time never exceed the payment", async () => {
  const payment = await pay(0n, 1_000n, 100);
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => ledger.post(refundOf(payment, 70n))));
  const codes = outcomes.map(codeOf).sort();
  expect(codes).toEqual([...Array<string>(6).fill("PAY_009"), ...Array<string>(14).fill("posted")]);
  expect(await balancesOf(ledger, payment.wallets.slice(2))).toEqual([20n]);
});

test("a refund and a cancellation at the same time exclude each other", async () => {
  for (let round = 0; round < 10; round += 1) {
    const payment = await pay(100n, 900n, 100);
    const { paymentRequestId } = payment;
    const cancel: Intent = { kind: "cancelPayment", paymentRequestId };
    const intents = round % 2 === 0 ? [cancel, refundOf(payment, 500n)] : [refundOf(payment, 500n), cancel];
    const codes = (await Promise.all(intents.map((intent) => ledger.post(intent)))).map(codeOf);
    expect(["posted,PAY_003", "posted,PAY_008", "PAY_003,posted", "PAY_008,posted"]).toContain(codes.join());
  }
});

test("a read of the payment shows the refunded amount and each part", async () => {
  const payment = await pay(100n, 900n, 100);
  for (const amount of [300n, 200n]) await ledger.post(refundOf(payment, amount));
  const { requests } = await getEntries(ledger.database.db, ledger.orgId, [payment.paymentRequestId]);
  expect(requests).toMatchObject([
    {
      cancelledWon: 500n,
      cancellations: [
        { kind: "refundPayment", paymentRefunded: { refundedWon: 300n, remainingWon: 700n } },
        { kind: "refundPayment", paymentRefunded: { refundedWon: 500n, remainingWon: 500n } },
      ],
    },
  ]);
});

function byAmount(one: bigint, other: bigint): number {
  return one < other ? -1 : 1;
}
