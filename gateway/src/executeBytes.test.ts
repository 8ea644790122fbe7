import { childTraceparent } from "@wonrail/kit/context";
import { newId } from "@wonrail/kit/contract/ids";
import {
  ChargeStatus,
  ExecuteBulkRequest,
  ExecuteBulkResponse,
  type ExecuteRequest,
  type ExecuteResponse,
  PaymentStatus,
  SettlementStatus,
  TransferStatus,
} from "@wonrail/proto/payment/v1/payment";
import { executeBytes } from "./executeBytes";

// A bulk call holds as many commands as the bounds allow, so each bound must be above the encoded size.

const amountWon = String(Number.MAX_SAFE_INTEGER);
const ADDRESS = `0x${"f".repeat(40)}`;
const createdAt = new Date("2026-01-01T00:00:00.123Z");

/** All notes at their limits, four bytes for each character. */
const full = {
  memo: "😀".repeat(200),
  reference: "😀".repeat(100),
  metadata: Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`${index}${"😀".repeat(39)}`, "😀".repeat(500)]),
  ),
};
const none = { memo: undefined, reference: undefined, metadata: {} };
const settlement = {
  status: SettlementStatus.PENDING,
  network: "WON_TESTNET",
  txHash: undefined,
  blockNumber: undefined,
};

type Case = [
  name: string,
  commandOf: (notes: typeof full | typeof none) => NonNullable<ExecuteRequest["command"]>,
  outcomeOf: (notes: typeof full | typeof none) => NonNullable<ExecuteResponse["outcome"]>,
];

const payment = (notes: typeof full | typeof none) => ({
  ...{
    paymentId: newId("pay"),
    status: PaymentStatus.CANCELLED,
    payerWalletId: newId("wal"),
    receiverWalletId: newId("wal"),
  },
  ...{
    amountWon,
    incentiveAccruedWon: amountWon,
    refundedAmountWon: amountWon,
    settlement,
    createdAt,
    ...notes,
  },
  breakdown: { governmentWon: amountWon, incentiveWon: amountWon, normalWon: amountWon },
  cancellation: undefined,
});
const charge = (notes: typeof full | typeof none) => ({
  ...{
    chargeId: newId("chg"),
    status: ChargeStatus.CANCELLED,
    walletId: newId("wal"),
    amountWon,
    balanceWon: amountWon,
  },
  ...{ cancelledAmountWon: amountWon, cancellableUntil: createdAt, settlement, createdAt, ...notes },
});

const CASES: Case[] = [
  [
    "transfer",
    (notes) => ({
      $case: "transfer",
      value: { fromWalletId: newId("wal"), toWalletAddress: ADDRESS, amountWon, ...notes },
    }),
    (notes) => ({
      $case: "transfer",
      value: {
        ...{
          transferId: newId("trf"),
          status: TransferStatus.PENDING,
          fromWalletId: newId("wal"),
          toWalletAddress: ADDRESS,
        },
        ...{ toWalletId: newId("wal"), amountWon, settlement, createdAt, failureReason: undefined, ...notes },
      },
    }),
  ],
  [
    "payment",
    (notes) => ({
      $case: "pay",
      value: {
        ...{ payerWalletId: newId("wal"), receiverWalletId: newId("wal"), amountWon },
        ...{ incentiveAmountWon: amountWon, ...notes },
      },
    }),
    (notes) => ({ $case: "payment", value: payment(notes) }),
  ],
  [
    "cancellation of a payment",
    (notes) => ({ $case: "cancelPayment", value: { paymentId: newId("pay"), ...notes } }),
    (notes) => ({
      $case: "cancelledPayment",
      value: {
        ...payment(full),
        cancellation: {
          ...{ cancelId: newId("pcl"), restoredIncentiveWon: amountWon, restoredNormalWon: amountWon },
          ...{ incentiveClawedBackWon: amountWon, keptFromNormalWon: amountWon },
          ...{ settlement, createdAt, ...notes },
        },
      },
    }),
  ],
  [
    "refund of a payment",
    (notes) => ({ $case: "refundPayment", value: { paymentId: newId("pay"), amountWon, ...notes } }),
    (notes) => ({
      $case: "refundedPayment",
      value: {
        payment: payment(full),
        refund: {
          ...{ refundId: newId("prf"), amountWon, settlement, createdAt, ...notes },
          ...{ restoredIncentiveWon: amountWon, restoredNormalWon: amountWon },
          ...{ incentiveClawedBackWon: amountWon, keptFromNormalWon: amountWon },
        },
      },
    }),
  ],
  [
    "cancellation of a charge",
    (notes) => ({ $case: "cancelCharge", value: { chargeId: newId("chg"), amountWon, ...notes } }),
    (notes) => ({
      $case: "cancelledCharge",
      value: {
        charge: charge(full),
        cancellation: { cancelId: newId("ccl"), amountWon, settlement, createdAt, ...notes },
      },
    }),
  ],
];

test.each(CASES)("the bounds of a %s are above the encoded sizes", (_name, commandOf, outcomeOf) => {
  for (const notes of [full, none]) {
    const item: ExecuteRequest = {
      context: {
        ...{ requestId: "r".repeat(128), traceparent: childTraceparent() },
        ...{ orgId: newId("org"), deadline: createdAt },
      },
      idempotencyKey: "k".repeat(255),
      bodyHash: Buffer.alloc(32, 1),
      command: commandOf(notes),
    };
    const bounds = executeBytes(item);
    const answers = [{ replayed: true, outcome: outcomeOf(notes) }];
    expect(ExecuteBulkRequest.encode({ items: [item] }).finish().length).toBeLessThanOrEqual(bounds.request);
    expect(ExecuteBulkResponse.encode({ items: answers }).finish().length).toBeLessThanOrEqual(bounds.answer);
  }
});

test("a full call of commands without notes reaches neither limit", () => {
  const { request, answer } = executeBytes({
    bodyHash: Buffer.alloc(0),
    command: { $case: "refund", value: { walletId: newId("wal"), metadata: {} } },
  });
  expect(500 * request).toBeLessThan(1024 * 1024);
  expect(500 * answer).toBeLessThan(4 * 1024 * 1024);
});
