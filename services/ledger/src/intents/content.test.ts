import { won } from "@wonrail/kit/contract/money";
import { contentOf } from "./index";
import { type IntentOf } from "../domain/intents";

const hold: IntentOf<"placeHold"> = {
  ...{ kind: "placeHold", walletId: "wal_1", toAddress: "0xa" },
  ...{ amountWon: won(1n), dailyLimitWon: won(5n) },
};
const payment: IntentOf<"payment"> = {
  ...{ kind: "payment", payerWalletId: "wal_1", receiverWalletId: "wal_2", amountWon: won(100n) },
  ...{ incentiveAmountWon: null, accrualRateBps: 100 },
};
const notes = { memo: null, reference: null, metadata: {}, relatedId: null };
const held = { intent: hold, ...notes };
const paid = { intent: payment, ...notes };

test.each([
  ["hold address", held, { ...held, intent: { ...hold, toAddress: "0xb" } }],
  ["INCENTIVE part", paid, { ...paid, intent: { ...payment, incentiveAmountWon: won(0n) } }],
  ["reference", paid, { ...paid, reference: "r" }],
  ["metadata", paid, { ...paid, metadata: { order: "1" } }],
  ["memo", paid, { ...paid, memo: "m" }],
  ["related id", paid, { ...paid, relatedId: "pay_1" }],
  ["field for the same text", { ...paid, memo: "m" }, { ...paid, relatedId: "m" }],
])("another %s makes another request", (_what, one, other) => {
  expect(contentOf(one)).not.toBe(contentOf(other));
});

test.each([
  ["limit", held, { ...held, intent: { ...hold, dailyLimitWon: won(6n) } }],
  ["rate", paid, { ...paid, intent: { ...payment, accrualRateBps: 200 } }],
])("another %s leaves the request the same", (_policy, one, other) => {
  expect(contentOf(one)).toBe(contentOf(other));
});
