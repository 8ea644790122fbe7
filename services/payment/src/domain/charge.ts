import { type Won } from "@wonrail/kit/contract/money";

export interface Charge {
  orgId: string;
  chargeId: string;
  walletId: string;
  amountWon: Won;
  cancelledWon: Won;
  balanceWon: Won;
  memo: string | null;
  version: bigint;
  createdAt: Date;
  updatedAt: Date;
}

export interface ChargeCancel {
  orgId: string;
  cancelId: string;
  chargeId: string;
  amountWon: Won;
  memo: string | null;
  createdAt: Date;
}

const CANCELLABLE_DAYS = 30;

/** 30 × 24 hours after the charge, whatever the calendar does. */
export function cancellableUntil(charge: Pick<Charge, "createdAt">): Date {
  return new Date(charge.createdAt.getTime() + CANCELLABLE_DAYS * 24 * 3_600_000);
}

export function chargeStatus({ amountWon, cancelledWon }: Pick<Charge, "amountWon" | "cancelledWon">) {
  if (cancelledWon === 0n) return "CHARGED";
  return cancelledWon === amountWon ? "CANCELLED" : "PARTIALLY_CANCELLED";
}
