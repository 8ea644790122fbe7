import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { isId } from "@wonrail/kit/contract/ids";
import { type Won } from "@wonrail/kit/contract/money";
import { noteProblems, type Notes } from "@wonrail/kit/contract/notes";

const MIN_CHARGE_WON = 1_000n;
const MIN_PAYMENT_WON = 100n;

export function checkCharge(amountWon: Won): void {
  if (amountWon < MIN_CHARGE_WON) throw belowMinimum("CHG_001", MIN_CHARGE_WON);
}

export function checkPayment(amountWon: Won): void {
  if (amountWon < MIN_PAYMENT_WON) throw belowMinimum("PAY_002", MIN_PAYMENT_WON);
}

export function checkPositive(amountWon: Won, path: string): void {
  if (amountWon <= 0n) throw invalidRequest([{ path, message: "must be a positive integer" }]);
}

export function checkNotes(notes: Notes): void {
  const problems = noteProblems(notes);
  if (problems.length > 0) throw invalidRequest(problems);
}

/** An id of the wrong form is answered like an id that does not exist. */
export function checkChargeId(chargeId: string): void {
  if (!isId("chg", chargeId)) throw new DomainError("CHG_002");
}

export function checkPaymentId(paymentId: string): void {
  if (!isId("pay", paymentId)) throw new DomainError("PAY_004");
}

export function checkWalletId(walletId: string): void {
  if (!isId("wal", walletId)) throw new DomainError("WAL_002", { walletId });
}

function belowMinimum(code: "CHG_001" | "PAY_002", minimumWon: bigint): DomainError {
  return new DomainError(code, { fields: [{ path: "amount", message: `must be at least ${minimumWon}` }] });
}
