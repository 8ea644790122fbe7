import { type Payment } from "./records";

export function paymentStatus({ cancel, amountWon, refundedWon }: Payment) {
  if (cancel !== null) return "CANCELLED";
  if (refundedWon === 0n) return "PAID";
  return refundedWon === amountWon ? "REFUNDED" : "PARTIALLY_REFUNDED";
}
