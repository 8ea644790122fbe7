import { newId } from "@wonrail/kit/contract/ids";
import {
  cancelChargeEntry,
  cancelPaymentEntry,
  chargeEntry,
  endHoldEntry,
  paymentEntry,
  placeHoldEntry,
  plainEntry,
  refundEntry,
  refundPaymentEntry,
  transferEntry,
} from "@wonrail/kit/records/testing/entries";
import { IntentKind } from "@wonrail/proto/ledger/v1/intents";
import { type Entry } from "@wonrail/proto/ledger/v1/ledger";
import { type ObjectState } from "./change";
import { cancellationOf, changeOfEntry } from "./journal";

const NETWORK = "WON_TESTNET";
const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const orgId = newId("org");
const wallet = newId("wal");
const noChange = (): undefined => undefined;

const change = (entry: Entry, changed: (id: string) => Record<string, string> | undefined = noChange) =>
  changeOfEntry({ orgId, sourceId: `evt_${entry.requestId}`, entry }, NETWORK, changed);

/** The object after the entries, in their order. */
function apply(...entries: Entry[]): ObjectState {
  return entries.reduce<ObjectState | undefined>((state, entry) => change(entry)!.apply(state), undefined)!;
}

const charge = chargeEntry(wallet, 50_000n, 50_000n, { memo: "top-up" });
const parties = { payerWalletId: wallet, incentiveWalletId: newId("wal"), receiverWalletId: newId("wal") };
const split = { incentiveWon: 100n, normalWon: 4_900n, accruedWon: 49n };
const payment = paymentEntry({ ...parties, normalWalletId: wallet }, split);
const hold = placeHoldEntry({ walletId: wallet, toAddress: OUTSIDE }, 700n);
const transfer = transferEntry({ fromWalletId: wallet, toWalletId: newId("wal"), toAddress: OUTSIDE }, 300n);
const part = cancelChargeEntry(charge, { amountWon: 1_000n, cancelledWon: 1_000n, balanceWon: 49_000n });
const cancellation = cancelPaymentEntry(payment, 0n);
const refund = refundEntry(wallet, 9_000n);
const refunded = refundPaymentEntry(payment, { amountWon: 400n, refundedWon: 400n });

test.each<[Entry, Entry, string[], string]>([
  [transfer, transfer, ["transfer.created", "transfer.completed"], "transferId"],
  [hold, hold, ["transfer.created"], "transferId"],
  [endHoldEntry(hold, IntentKind.POST_HOLD), hold, ["transfer.completed"], "transferId"],
  [endHoldEntry(hold, IntentKind.VOID_HOLD), hold, ["transfer.failed"], "transferId"],
  [charge, charge, ["charge.created"], "chargeId"],
  [part, charge, ["charge.cancelled"], "chargeId"],
  [refund, refund, ["refund.created"], "refundId"],
  [payment, payment, ["payment.created"], "paymentId"],
  [cancellation, payment, ["payment.cancelled"], "paymentId"],
  [refunded, payment, ["payment.refunded"], "paymentId"],
])("an entry changes the object that it belongs to (%#)", (entry, { requestId }, types, id) => {
  const changed = change(entry)!;
  expect(changed).toMatchObject({
    ...{ orgId, objectId: requestId, sourceId: `evt_${entry.requestId}`, occurredAt: entry.postedAt, types },
    ledgerRef: entry.requestId,
  });
  const { data, failureReason } = changed.apply(undefined)!;
  expect(data[id]).toBe(requestId);
  expect(failureReason).toBeNull();
});

test.each([IntentKind.OPEN_ACCOUNT, IntentKind.CREDIT_EXTERNAL])(
  "an entry that no object shows changes nothing (%#)",
  (kind) => {
    expect(change(plainEntry(kind))).toBeUndefined();
  },
);

test("a charge collects its cancellations, and a payment its refunds", () => {
  expect(apply(charge).data).toMatchObject({ amount: 50_000, memo: "top-up", cancellations: [] });
  expect(apply(charge, part).data).toMatchObject({
    cancellations: [{ cancelId: part.requestId, amount: 1_000 }],
  });
  expect(apply(payment).data).toMatchObject({ amount: 5_000, refunds: [], cancellation: null });
  expect(apply(payment, refunded).data).toMatchObject({
    refunds: [{ refundId: refunded.requestId, amount: 400 }],
  });
  expect(apply(payment, cancellation).data).toMatchObject({ refunds: [], status: "CANCELLED" });
});

test("an object keeps its newest hundred parts", () => {
  const parts = Array.from({ length: 101 }, () =>
    cancelChargeEntry(charge, { amountWon: 1n, cancelledWon: 1n, balanceWon: 1n }),
  );
  const cancelled = apply(charge, ...parts).data.cancellations as { cancelId: string }[];
  expect(cancelled.map(({ cancelId }) => cancelId)).toEqual(parts.slice(1).map(({ requestId }) => requestId));
});

test("an object keeps the reason of its failed settlement and its changed metadata", () => {
  const failed = { ...apply(charge), failureReason: "blocked" };
  const metadata = { till: "5" };
  const { data, failureReason } = change(part, (id) =>
    id === charge.requestId ? metadata : undefined,
  )!.apply(failed)!;
  expect(failureReason).toBe("blocked");
  expect(data.metadata).toEqual(metadata);
});

test.each([
  [part, charge],
  [cancellation, payment],
  [refunded, payment],
])("a cancellation or refund names the object that it belongs to (%#)", (entry, { requestId }) => {
  expect(cancellationOf(change(entry)!)).toEqual({ cancelId: entry.requestId, objectId: requestId });
});

test("other changes are no cancellation", () => {
  const { ledgerRef: _, ...withoutEntry } = change(charge)!;
  expect(cancellationOf(change(charge)!)).toBeUndefined();
  expect(cancellationOf({ ...change(charge)!, ledgerRef: "chg_ccl_1" })).toBeUndefined();
  expect(cancellationOf(withoutEntry)).toBeUndefined();
});
