import fc from "fast-check";
import { newId } from "@wonrail/kit/contract/ids";
import { IntentKind, TransactionType } from "@wonrail/proto/ledger/v1/intents";
import { Entry, PostBulkRequest, PostBulkResponse, type PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { postBytes } from "./postBytes";
import { notes, text } from "./testing/notes";

// A bulk call holds as many items as the bounds allow, so each bound must be above the encoded size.

const amountWon = String(Number.MAX_SAFE_INTEGER);
const walletId = newId("wal");
const ADDRESS = `0x${"f".repeat(40)}`;
const LARGEST = 2n ** 63n - 1n;

const intent = fc.constantFrom<NonNullable<PostRequest["intent"]>>(
  {
    $case: "payment",
    value: {
      ...{ payerWalletId: walletId, receiverWalletId: walletId, amountWon },
      ...{ incentiveAmountWon: amountWon, accrualRateBps: 10_000 },
    },
  },
  { $case: "placeHold", value: { walletId, amountWon, dailyLimitWon: amountWon, toAddress: ADDRESS } },
  {
    $case: "transfer",
    value: {
      ...{ fromWalletId: walletId, toWalletId: walletId, amountWon },
      ...{ dailyLimitWon: amountWon, toAddress: ADDRESS },
    },
  },
  { $case: "charge", value: { walletId, amountWon, dailyLimitWon: amountWon, maxChargeWon: amountWon } },
  { $case: "cancelCharge", value: { chargeRequestId: newId("chg"), amountWon } },
  { $case: "cancelPayment", value: { paymentRequestId: newId("pay") } },
  { $case: "refundPayment", value: { paymentRequestId: newId("pay"), amountWon } },
  { $case: "refund", value: { walletId } },
  { $case: "postHold", value: { holdRequestId: newId("trf") } },
  { $case: "voidHold", value: { holdRequestId: newId("trf") } },
);

const request: fc.Arbitrary<PostRequest> = fc
  .record({
    context: fc.record({
      requestId: text(128, "r"),
      traceparent: fc.constant(`00-${"a".repeat(32)}-${"b".repeat(16)}-01`),
      orgId: fc.constant(newId("org")),
      deadline: fc.constant(new Date("2026-01-01T00:00:00.123Z")),
    }),
    requestId: fc.constant(newId("pcl")),
    relatedId: fc.constant(newId("pay")),
    key: fc.record({
      scope: fc.constant("REFUND_PAYMENT"),
      key: text(255, "k"),
      bodyHash: fc.constant(Buffer.alloc(32, 1)),
    }),
    notes,
    intent,
  })
  .map(({ notes, ...rest }) => ({ ...rest, ...notes }));

/** The largest entry that the ledger answers, without notes. */
const entry = Entry.fromPartial({
  ...{
    entryId: newId("jrn"),
    requestId: newId("pcl"),
    relatedId: newId("pay"),
    kind: IntentKind.REOPEN_ACCOUNT,
  },
  ...{ postedAt: new Date("2026-01-01T00:00:00.123Z"), orgSequence: LARGEST },
  postings: Array.from({ length: 7 }, () => ({
    ...{ accountId: walletId, type: TransactionType.INCENTIVE_USE_CANCEL, amountWon: `-${amountWon}` },
    ...{ balanceAfterWon: amountWon, sequence: LARGEST },
  })),
  balances: Array.from({ length: 4 }, () => ({
    ...{ accountId: walletId, balanceWon: amountWon, heldWon: amountWon },
    ...{ availableWon: amountWon, sequence: LARGEST },
  })),
  result: {
    $case: "paymentRefunded",
    value: {
      part: {
        ...{ restoredGovernmentWon: amountWon, restoredIncentiveWon: amountWon },
        ...{ restoredNormalWon: amountWon, incentiveClawedBackWon: amountWon },
        keptFromNormalWon: amountWon,
      },
      ...{ refundedWon: amountWon, remainingWon: amountWon },
    },
  },
});

test("the bound of a request is above its encoded size", () => {
  fc.assert(
    fc.property(request, (item) => {
      const size = PostBulkRequest.encode({ items: [item] }).finish().length;
      expect(size).toBeLessThanOrEqual(postBytes(item).request);
    }),
  );
});

test("the bound of an answer is above the encoded size of the largest outcome", () => {
  fc.assert(
    fc.property(request, notes, (item, notesOfOriginal) => {
      const { memo, reference, metadata } = item;
      const ends = ["cancelCharge", "cancelPayment", "refundPayment", "postHold", "voidHold"].includes(
        item.intent!.$case,
      );
      const original = ends ? { ...entry, ...notesOfOriginal } : undefined;
      const posted = { ...entry, memo, reference, metadata, original };
      const outcomes = [{ outcome: { $case: "posted" as const, value: posted }, replayed: true }];
      const size = PostBulkResponse.encode({ outcomes }).finish().length;
      expect(size).toBeLessThanOrEqual(postBytes(item).answer);
    }),
  );
});

test("a full call of requests without notes reaches neither limit", () => {
  const { request, answer } = postBytes({ metadata: {}, intent: undefined } as never);
  expect(500 * request).toBeLessThan(1024 * 1024);
  expect(500 * answer).toBeLessThan(4 * 1024 * 1024);
});
