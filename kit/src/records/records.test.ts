import * as fc from "fast-check";
import { newId } from "../contract/ids";
import { IntentKind } from "@wonrail/proto/ledger/v1/intents";
import { type Entry, HoldStatus, RequestState } from "@wonrail/proto/ledger/v1/ledger";
import { recordsNow, recordsOf } from "./records";
import {
  cancelChargeEntry,
  cancelPaymentEntry,
  chargeEntry,
  endHoldEntry,
  type EntryNotes,
  paymentEntry,
  placeHoldEntry,
  plainEntry,
  refundEntry,
  refundPaymentEntry,
  transferEntry,
} from "./testing/entries";

const orgId = newId("org");
const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const amount = fc.bigInt({ min: 1n, max: 9_007_199_254_740_991n });
// The generated code of the messages refuses the key __proto__.
const key = fc.string().filter((text) => text !== "__proto__");
const notes = fc.record(
  { memo: fc.string(), reference: fc.string(), metadata: fc.dictionary(key, fc.string()) },
  { requiredKeys: [] },
);
const asStored = ({ memo, reference, metadata }: EntryNotes) => ({
  ...{ memo: memo ?? null, reference: reference ?? null, metadata: metadata ?? {} },
});

test("a charge's record holds its entry's amount, balance and notes", () => {
  fc.assert(
    fc.property(amount, amount, notes, (amountWon, balanceWon, noted) => {
      const walletId = newId("wal");
      const entry = chargeEntry(walletId, amountWon, balanceWon, noted);
      expect(recordsOf(orgId, entry)).toEqual({
        charge: {
          ...{ orgId, chargeId: entry.requestId, walletId, amountWon, cancelledWon: 0n, balanceWon },
          ...{ ...asStored(noted), version: entry.orgSequence, createdAt: entry.postedAt },
        },
      });
    }),
  );
});

test("a cancelled charge's record keeps the charge's notes and time and takes the balance after the cancellation", () => {
  fc.assert(
    fc.property(fc.tuple(amount, amount, amount), notes, notes, ([one, other, left], noted, cancelNoted) => {
      const charge = chargeEntry(newId("wal"), one + other, one + other + left, noted);
      const of = { amountWon: one, cancelledWon: one, balanceWon: other + left };
      const cancel = cancelChargeEntry(charge, of, cancelNoted);
      const { charge: before } = recordsOf(orgId, charge);
      expect(recordsOf(orgId, cancel)).toEqual({
        charge: { ...before, cancelledWon: one, balanceWon: other + left, version: cancel.orgSequence },
        chargeCancel: {
          ...{ orgId, cancelId: cancel.requestId, chargeId: charge.requestId, amountWon: one },
          ...{ ...asStored(cancelNoted), version: cancel.orgSequence, createdAt: cancel.postedAt },
        },
      });
    }),
  );
});

test("a payment's record adds up, names the payer's wallet of the request and finds the receiver", () => {
  const split = fc.tuple(
    fc.bigInt({ min: 0n, max: 10n ** 12n }),
    amount,
    fc.bigInt({ min: 0n, max: 10n ** 9n }),
  );
  fc.assert(
    fc.property(split, notes, ([incentiveWon, normalWon, accruedWon], noted) => {
      const wallets = parties();
      const entry = paymentEntry(wallets, { incentiveWon, normalWon, accruedWon }, noted);
      const { payment } = recordsOf(orgId, entry);
      expect(payment).toEqual({
        ...{ orgId, paymentId: entry.requestId, payerWalletId: wallets.payerWalletId },
        ...{ receiverWalletId: wallets.receiverWalletId, amountWon: incentiveWon + normalWon },
        ...{ governmentWon: 0n, incentiveWon, normalWon, accruedWon, refundedWon: 0n, cancel: null },
        ...{ ...asStored(noted), version: entry.orgSequence, createdAt: entry.postedAt },
      });
    }),
  );
});

test("a cancelled payment's record is the payment's with the restored amounts", () => {
  fc.assert(
    fc.property(fc.tuple(amount, amount), notes, ([normalWon, accruedWon], noted) => {
      const paid = paymentEntry(parties(), {
        incentiveWon: 5n,
        normalWon: normalWon + accruedWon,
        accruedWon,
      });
      const cancel = cancelPaymentEntry(paid, accruedWon, noted);
      const { payment } = recordsOf(orgId, cancel);
      expect(payment).toEqual({
        ...recordsOf(orgId, paid).payment,
        version: cancel.orgSequence,
        cancel: {
          ...{ ...asStored(noted), cancelId: cancel.requestId, createdAt: cancel.postedAt },
          ...{
            restoredIncentiveWon: 5n,
            restoredNormalWon: normalWon,
            clawedBackWon: 0n,
            keptWon: accruedWon,
          },
        },
      });
    }),
  );
});

test("a refund's record holds the amount that left the wallet", () => {
  const walletId = newId("wal");
  const entry = refundEntry(walletId, 700n, { memo: "bye" });
  const { refund } = recordsOf(orgId, entry);
  expect(refund).toMatchObject({ refundId: entry.requestId, walletId, amountWon: 700n, memo: "bye" });
});

test("a transfer between two wallets is COMPLETED at once", () => {
  const of = { fromWalletId: newId("wal"), toWalletId: newId("wal"), toAddress: OUTSIDE };
  const entry = transferEntry(of, 900n, { reference: "INV-7" });
  expect(recordsOf(orgId, entry).transfer).toMatchObject({
    ...{ transferId: entry.requestId, status: "COMPLETED", fromWalletId: of.fromWalletId },
    ...{ toWalletId: of.toWalletId, toWalletAddress: OUTSIDE, amountWon: 900n, reference: "INV-7" },
  });
});

test.each([
  [IntentKind.POST_HOLD, HoldStatus.POSTED, "COMPLETED"],
  [IntentKind.VOID_HOLD, HoldStatus.VOIDED, "FAILED"],
] as const)("an outside transfer is PENDING until %s", (kind, holdStatus, status) => {
  const placed = placeHoldEntry({ walletId: newId("wal"), toAddress: OUTSIDE }, 900n, { memo: "rent" });
  const ended = endHoldEntry(placed, kind);
  const { transfer } = recordsOf(orgId, placed);
  expect(transfer).toMatchObject({ status: "PENDING", toWalletId: null, amountWon: 900n, memo: "rent" });
  const after = { ...transfer, status, version: ended.orgSequence };
  expect(recordsOf(orgId, ended)).toEqual({ transfer: after });

  const { value: hold } = placed.result as Extract<Entry["result"], { $case: "hold" }>;
  const now = recordsNow(orgId, stateOf(placed, { hold: { ...hold, status: holdStatus } }));
  expect(now.transfer).toEqual({ ...after, version: placed.orgSequence });
});

test("the state of a charge in several parts is the newest entry's record, with all parts", () => {
  const charge = chargeEntry(newId("wal"), 5_000n, 5_000n);
  const parts = [1_000n, 3_000n].map((cancelledWon) =>
    cancelChargeEntry(charge, { amountWon: 1_000n, cancelledWon, balanceWon: 5_000n - cancelledWon }),
  );
  const bare = parts.map(({ original: _, ...part }) => part);
  const now = recordsNow(orgId, stateOf(charge, { cancellations: bare }));
  expect(now).toEqual({
    ...recordsOf(orgId, parts[1]!),
    chargeCancels: parts.map((part) => recordsOf(orgId, part).chargeCancel),
    paymentRefunds: [],
  });
});

test("a payment refunded in parts has the sum of the newest entry, and all parts", () => {
  const paid = paymentEntry(parties(), { incentiveWon: 5n, normalWon: 5_000n, accruedWon: 0n });
  const parts = [1_000n, 3_000n].map((refundedWon, index) =>
    refundPaymentEntry(
      paid,
      { amountWon: 1_000n * BigInt(index + 1), refundedWon },
      { reference: `R-${index}` },
    ),
  );
  const bare = parts.map(({ original: _, ...part }) => part);
  const now = recordsNow(orgId, stateOf(paid, { cancellations: bare }));
  const last = parts[1]!;
  expect(now).toEqual({
    payment: { ...recordsOf(orgId, paid).payment, refundedWon: 3_000n, version: last.orgSequence },
    paymentRefund: now.paymentRefunds[1],
    paymentRefunds: parts.map(({ requestId, orgSequence, postedAt }, index) => ({
      ...{ orgId, refundId: requestId, paymentId: paid.requestId, amountWon: 1_000n * BigInt(index + 1) },
      ...{ restoredIncentiveWon: 0n, restoredNormalWon: 1_000n * BigInt(index + 1) },
      ...{ clawedBackWon: 0n, keptWon: 0n, memo: null, reference: `R-${index}`, metadata: {} },
      ...{ version: orgSequence, createdAt: postedAt },
    })),
    chargeCancels: [],
  });
});

test("a refused request has no records", () => {
  const outcome = { outcome: { $case: "error" as const, value: { code: "CHG_008" } }, replayed: false };
  const refused = RequestState.fromPartial({ requestId: newId("chg"), outcome });
  expect(recordsNow(orgId, refused)).toEqual({ chargeCancels: [], paymentRefunds: [] });
});

test("an entry that opens, closes or freezes a wallet or credits a deposit has no record", () => {
  const kinds = [
    ...[IntentKind.OPEN_ACCOUNT, IntentKind.CLOSE_ACCOUNT, IntentKind.REOPEN_ACCOUNT],
    ...[IntentKind.FREEZE_ACCOUNT, IntentKind.CREDIT_EXTERNAL],
  ];
  expect(kinds.map((kind) => recordsOf(orgId, plainEntry(kind)))).toEqual(kinds.map(() => ({})));
});

test("a cancellation without its original entry is an error of the ledger", () => {
  const charge = chargeEntry(newId("wal"), 5_000n, 5_000n);
  const of = { amountWon: 1n, cancelledWon: 1n, balanceWon: 4_999n };
  const { original: _, ...bare } = cancelChargeEntry(charge, of);
  expect(() => recordsOf(orgId, bare)).toThrow("does not carry the entry");
});

function parties() {
  return {
    ...{ payerWalletId: newId("wal"), incentiveWalletId: newId("wal") },
    ...{ normalWalletId: newId("wal"), receiverWalletId: newId("wal") },
  };
}

function stateOf(entry: Entry, of: Partial<RequestState>): RequestState {
  const outcome = { outcome: { $case: "posted" as const, value: entry }, replayed: false };
  return { ...RequestState.fromPartial({ requestId: entry.requestId }), outcome, ...of };
}
