import type { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import {
  checkCharge,
  checkChargeId,
  checkNotes,
  checkPayment,
  checkPaymentId,
  checkPositive,
  checkWalletId,
} from "./rules";

function refusalOf(work: () => unknown): DomainError | null {
  try {
    work();
    return null;
  } catch (error) {
    return error as DomainError;
  }
}

function pairs(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, "value"]));
}

test.each([
  ["a charge of 999", () => checkCharge(won(999n)), "CHG_001"],
  ["a charge of 1,000", () => checkCharge(won(1_000n)), null],
  ["a payment of 99", () => checkPayment(won(99n)), "PAY_002"],
  ["a payment of 100", () => checkPayment(won(100n)), null],
  ["an amount of 0", () => checkPositive(won(0n), "amount"), "REQ_001"],
  ["an amount of 1", () => checkPositive(won(1n), "amount"), null],
  ["a memo of 200 emoji", () => checkNotes({ memo: "🙂".repeat(200), metadata: {} }), null],
  ["a memo of 201 letters", () => checkNotes({ memo: "m".repeat(201), metadata: {} }), "REQ_001"],
  ["a reference of 100 letters", () => checkNotes({ reference: "r".repeat(100), metadata: {} }), null],
  ["a reference of 101 letters", () => checkNotes({ reference: "r".repeat(101), metadata: {} }), "REQ_001"],
  ["no notes", () => checkNotes({ metadata: {} }), null],
  ["10 pairs of metadata", () => checkNotes({ metadata: pairs(10) }), null],
  ["11 pairs of metadata", () => checkNotes({ metadata: pairs(11) }), "REQ_001"],
  ["a key of 40 emoji", () => checkNotes({ metadata: { ["🙂".repeat(40)]: "" } }), null],
  ["a key of 41 letters", () => checkNotes({ metadata: { ["k".repeat(41)]: "" } }), "REQ_001"],
  ["an empty key", () => checkNotes({ metadata: { "": "v" } }), "REQ_001"],
  ["a value of 500 letters", () => checkNotes({ metadata: { k: "v".repeat(500) } }), null],
  ["a value of 501 letters", () => checkNotes({ metadata: { k: "v".repeat(501) } }), "REQ_001"],
  ["a payment's id as a charge's", () => checkChargeId(newId("pay")), "CHG_002"],
  ["a charge's id as a payment's", () => checkPaymentId(newId("chg")), "PAY_004"],
  ["a payment's id as a wallet's", () => checkWalletId(newId("pay")), "WAL_002"],
])("%s", (_, work, code) => {
  expect(refusalOf(work)?.code ?? null).toBe(code);
});

test.each([
  [() => checkCharge(won(999n)), { path: "amount", message: "must be at least 1000" }],
  [() => checkPayment(won(99n)), { path: "amount", message: "must be at least 100" }],
  [() => checkPositive(won(-1n), "refund"), { path: "refund", message: "must be a positive integer" }],
])("a refused amount names the field and its bound (%#)", (work, field) => {
  expect(refusalOf(work)?.details).toEqual({ fields: [field] });
});

test("the refusal of a wallet's id repeats it", () => {
  const walletId = newId("pay");
  expect(refusalOf(() => checkWalletId(walletId))?.details).toEqual({ walletId });
});

test("ids of the right kind are accepted", () => {
  checkChargeId(newId("chg"));
  checkPaymentId(newId("pay"));
  checkWalletId(newId("wal"));
});
