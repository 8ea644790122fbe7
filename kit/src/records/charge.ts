import { type Charge } from "./records";

const CANCELLABLE_MS = 30 * 24 * 3_600_000;

/** 30 × 24 hours after the charge, whatever the calendar does. */
export function cancellableUntil({ createdAt }: Pick<Charge, "createdAt">): Date {
  return new Date(createdAt.getTime() + CANCELLABLE_MS);
}

export function chargeStatus({ amountWon, cancelledWon }: Pick<Charge, "amountWon" | "cancelledWon">) {
  if (cancelledWon === 0n) return "CHARGED";
  return cancelledWon === amountWon ? "CANCELLED" : "PARTIALLY_CANCELLED";
}
