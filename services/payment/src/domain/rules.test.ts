import type { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import {
  checkCharge,
  checkChargeId,
  checkMemo,
  checkPayment,
  checkPaymentId,
  checkPositive,
  checkWalletId,
} from "./rules";

function codeOf(work: () => unknown): string | null {
  try {
    work();
    return null;
  } catch (error) {
    return (error as DomainError).code;
  }
}

test.each([
  ["a charge of 999", () => checkCharge(won(999n)), "CHG_001"],
  ["a charge of 1,000", () => checkCharge(won(1_000n)), null],
  ["a payment of 99", () => checkPayment(won(99n)), "PAY_002"],
  ["a payment of 100", () => checkPayment(won(100n)), null],
  ["an amount of 0", () => checkPositive(won(0n), "amount"), "REQ_001"],
  ["an amount of 1", () => checkPositive(won(1n), "amount"), null],
  ["a memo of 200 emoji", () => checkMemo("🙂".repeat(200)), null],
  ["a memo of 201 letters", () => checkMemo("m".repeat(201)), "REQ_001"],
  ["no memo", () => checkMemo(undefined), null],
  ["a payment's id as a charge's", () => checkChargeId(newId("pay")), "CHG_002"],
  ["a charge's id as a payment's", () => checkPaymentId(newId("chg")), "PAY_004"],
  ["a payment's id as a wallet's", () => checkWalletId(newId("pay")), "WAL_002"],
])("%s", (_, work, code) => {
  expect(codeOf(work)).toBe(code);
});
