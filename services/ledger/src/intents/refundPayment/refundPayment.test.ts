import fc from "fast-check";
import { won } from "@wonrail/kit/contract/money";
import { paymentCancelled, type PaymentCancelled } from "../../domain/results";
import {
  chargeOf,
  openState,
  ORGS,
  outcomesOf,
  request,
  requestId,
  walletId,
} from "../../domain/testing/requests";
import type { Intent } from "../../domain/intents";
import type { Outcome } from "../../domain/types";
import { decide } from "../decide";

const [orgId] = ORGS as [string];
const kim = { normal: walletId(orgId, "kim", "NORMAL"), incentive: walletId(orgId, "kim", "INCENTIVE") };
const shop = walletId(orgId, "lee", "NORMAL");
const PAYMENT = requestId(3);

function play(...steps: Intent[]): Outcome[] {
  return outcomesOf(
    decide(
      openState(),
      steps.map((step, index) => request(orgId, requestId(index + 1), step)),
    ),
  );
}

/** Codes, or what a refund returned. */
function said(outcomes: Outcome[]): (string | PaymentCancelled)[] {
  return outcomes.map((outcome) =>
    outcome.status === "posted" ? paymentCancelled(outcome.entry.postings) : outcome.code,
  );
}

/** The payment is always the third request. */
function paid(incentiveWon: bigint, normalWon: bigint, accrualRateBps: number): Intent[] {
  return [
    chargeOf(kim.normal, 2_000_000n),
    chargeOf(kim.incentive, incentiveWon + 1n),
    {
      ...{ kind: "payment", payerWalletId: kim.normal, receiverWalletId: shop, accrualRateBps },
      ...{ amountWon: won(incentiveWon + normalWon), incentiveAmountWon: won(incentiveWon) },
    },
  ];
}

const cancel: Intent = { kind: "cancelPayment", paymentRequestId: PAYMENT };
const refund = (amount: bigint): Intent => ({
  kind: "refundPayment",
  paymentRequestId: PAYMENT,
  amountWon: won(amount),
});
const spend = (amount: bigint): Intent => ({
  ...{ kind: "payment", payerWalletId: kim.normal, receiverWalletId: walletId(orgId, "park", "NORMAL") },
  ...{ amountWon: won(amount), incentiveAmountWon: won(amount), accrualRateBps: 0 },
});

const payments = fc.record({
  incentiveWon: fc.bigInt(0n, 5_000n),
  normalWon: fc.bigInt(1n, 1_000_000n),
  rate: fc.integer({ min: 0, max: 10_000 }),
  shares: fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 12 }),
});

/** Divides the amount into parts of at least 1, about in these proportions. */
function divide(amount: bigint, shares: number[]): bigint[] {
  const total = BigInt(shares.reduce((sum, share) => sum + share, 0));
  const parts = shares.map((share) => (amount * BigInt(share)) / total).filter((part) => part > 0n);
  const rest = amount - sum(parts);
  return rest > 0n ? [...parts, rest] : parts;
}

function sum(amounts: bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

describe("a payment refunded in parts", () => {
  test("gives back exactly what a cancellation gives back, whatever the parts are", () => {
    fc.assert(
      fc.property(payments, ({ incentiveWon, normalWon, rate, shares }) => {
        const payment = paid(incentiveWon, normalWon, rate);
        const parts = divide(incentiveWon + normalWon, shares);
        const refunded = said(play(...payment, ...parts.map(refund)).slice(3)) as PaymentCancelled[];
        const [whole] = said(play(...payment, cancel).slice(3)) as [PaymentCancelled];
        for (const field of Object.keys(whole) as (keyof PaymentCancelled)[])
          expect([field, sum(refunded.map((part) => part[field]))]).toEqual([field, whole[field]]);
      }),
      { numRuns: 500 },
    );
  });

  test("leaves the payer the accrual on the rest of the NORMAL part, rounded down", () => {
    fc.assert(
      fc.property(payments, ({ normalWon, rate, shares }) => {
        const parts = divide(normalWon, shares);
        const refunded = said(play(...paid(0n, normalWon, rate), ...parts.map(refund)).slice(3));
        const accruedWon = (normalWon * BigInt(rate)) / 10_000n;
        let [restWon, keptWon] = [normalWon, accruedWon];
        (refunded as PaymentCancelled[]).forEach(({ incentiveClawedBackWon }, index) => {
          restWon -= parts[index]!;
          keptWon -= incentiveClawedBackWon;
          expect(keptWon).toBe((accruedWon * restWon) / normalWon);
        });
      }),
      { numRuns: 500 },
    );
  });

  test("returns NORMAL money before INCENTIVE money", () => {
    const [first, second] = said(play(...paid(300n, 700n, 0), refund(600n), refund(400n)).slice(3));
    expect(first).toMatchObject({ restoredNormalWon: 600n, restoredIncentiveWon: 0n });
    expect(second).toMatchObject({ restoredNormalWon: 100n, restoredIncentiveWon: 300n });
  });

  test("keeps a spent accrual from the NORMAL money of each part", () => {
    const payment = paid(0n, 1_000n, 1_000);
    const [, first, second] = said(play(...payment, spend(61n), refund(500n), refund(500n)).slice(3));
    expect(first).toMatchObject({
      ...{ restoredNormalWon: 490n, incentiveClawedBackWon: 40n, keptFromNormalWon: 10n },
    });
    expect(second).toMatchObject({
      ...{ restoredNormalWon: 450n, incentiveClawedBackWon: 0n, keptFromNormalWon: 50n },
    });
  });

  test("is never refunded by more than the payment", () => {
    const outcomes = play(...paid(0n, 1_000n, 0), refund(400n), refund(601n), refund(600n), refund(1n));
    expect(said(outcomes).slice(3)).toEqual([expect.anything(), "PAY_009", expect.anything(), "PAY_009"]);
    expect(outcomes.slice(4, 5)).toMatchObject([{ details: { remaining: 600 } }]);
    expect(outcomes.slice(5, 6)).toMatchObject([
      { entry: { paymentRefunded: { refundedWon: 1_000n, remainingWon: 0n } } },
    ]);
  });

  test("cannot be cancelled, and a cancelled payment cannot be refunded", () => {
    const payment = paid(0n, 1_000n, 0);
    expect(said(play(...payment, refund(1n), cancel)).at(-1)).toBe("PAY_008");
    expect(said(play(...payment, refund(1_000n), cancel)).at(-1)).toBe("PAY_008");
    expect(said(play(...payment, cancel, refund(1n))).at(-1)).toBe("PAY_003");
  });

  test("requires that the receiver still has the money of the part", () => {
    const transfer: Intent = {
      ...{ kind: "transfer", fromWalletId: shop, toWalletId: kim.normal, toAddress: `0x${"a".repeat(40)}` },
      ...{ amountWon: won(400n), dailyLimitWon: won(1_000_000n) },
    };
    const outcomes = play(...paid(0n, 1_000n, 0), transfer, refund(601n), refund(600n));
    expect(said(outcomes).slice(4)).toEqual(["PAY_001", expect.anything()]);
  });

  test("needs only the wallets that the part reaches", () => {
    const close: Intent = {
      kind: "freezeAccount",
      walletId: kim.incentive,
      freeze: "ALL",
      reason: "",
      source: "CHAIN",
    };
    const outcomes = play(...paid(300n, 700n, 0), close, refund(700n), refund(300n));
    expect(said(outcomes).slice(4)).toEqual([
      expect.objectContaining({ restoredNormalWon: 700n }),
      "WAL_005",
    ]);
  });
});

test("a refund of another request than a payment is PAY_004", () => {
  const ofCharge: Intent = { ...refund(1n), paymentRequestId: requestId(1) } as Intent;
  expect(
    said(
      play(...paid(0n, 1_000n, 0), ofCharge, { ...refund(1n), paymentRequestId: requestId(99) } as Intent),
    ).slice(3),
  ).toEqual(["PAY_004", "PAY_004"]);
});
