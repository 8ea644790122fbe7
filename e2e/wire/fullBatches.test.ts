import { MAX_BATCH as GATEWAY_BATCH } from "@wonrail/gateway/clients";
import { childTraceparent } from "@wonrail/kit/context";
import { newId } from "@wonrail/kit/contract/ids";
import { MAX_BATCH as PAYMENT_BATCH } from "@wonrail/payment/app";
import { PostBulkRequest, type PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { ExecuteBulkRequest, type ExecuteRequest } from "@wonrail/proto/payment/v1/payment";

// The busiest edges send a full queue in one call. The server must accept a call of the largest
// items, because otherwise they would travel one by one under the highest load.

const MAX_REQUEST_BYTES = 1024 * 1024;
const DEADLINE = new Date("2026-01-01T00:00:00.123Z");
/** 200 characters, four bytes each. */
const memo = "😀".repeat(200);
/** Without metadata, which the gateway does not accept yet. */
const notes = { memo, reference: memo.slice(0, 200), metadata: {} };
const amountWon = String(Number.MAX_SAFE_INTEGER);
const address = `0x${"f".repeat(40)}`;
const context = {
  requestId: "r".repeat(128),
  traceparent: childTraceparent(),
  orgId: newId("org"),
  deadline: DEADLINE,
};

const pay = {
  payerWalletId: newId("wal"),
  receiverWalletId: newId("wal"),
  amountWon,
  incentiveAmountWon: amountWon,
};

test.each<[string, NonNullable<ExecuteRequest["command"]>]>([
  ["payments", { $case: "pay", value: { ...pay, ...notes } }],
  [
    "transfers",
    {
      $case: "transfer",
      value: { fromWalletId: newId("wal"), toWalletAddress: address, amountWon, ...notes },
    },
  ],
  [
    "charges' cancellations",
    { $case: "cancelCharge", value: { chargeId: newId("chg"), amountWon, ...notes } },
  ],
])("a full call of the largest %s fits the limit on its way to payment", (_what, command) => {
  const item = { context, idempotencyKey: "k".repeat(255), bodyHash: Buffer.alloc(32), command };
  const items = Array.from({ length: GATEWAY_BATCH }, () => item);
  expect(ExecuteBulkRequest.encode({ items }).finish().length).toBeLessThan(MAX_REQUEST_BYTES);
});

test.each<[string, NonNullable<PostRequest["intent"]>]>([
  ["payments", { $case: "payment", value: { ...pay, accrualRateBps: 10_000 } }],
  [
    "holds",
    {
      $case: "placeHold",
      value: { walletId: newId("wal"), amountWon, dailyLimitWon: amountWon, toAddress: address },
    },
  ],
  ["payments' cancellations", { $case: "cancelPayment", value: { paymentRequestId: newId("pay") } }],
])("a full call of the largest %s fits the limit on its way to the ledger", (_what, intent) => {
  const ids = { requestId: newId("pcl"), relatedId: newId("pay") };
  const key = { scope: "CANCEL_PAYMENT", key: "k".repeat(255), bodyHash: Buffer.alloc(32) };
  const item = { context, ...ids, key, ...notes, intent };
  const items = Array.from({ length: PAYMENT_BATCH }, () => item);
  expect(PostBulkRequest.encode({ items }).finish().length).toBeLessThan(MAX_REQUEST_BYTES);
});
