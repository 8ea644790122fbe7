import { type Won } from "@wonrail/kit/money";

/** Where the chain is with a ledger entry or hold. */
export interface Settlement {
  status: "PENDING" | "SUBMITTED" | "CONFIRMED" | "FAILED";
  network: string;
  txHash: string | null;
  blockNumber: bigint | null;
}

export interface Transfer {
  orgId: string;
  transferId: string;
  status: "PENDING" | "COMPLETED" | "FAILED";
  fromWalletId: string;
  toWalletAddress: string;
  toWalletId: string | null;
  amountWon: Won;
  memo: string | null;
  failureReason: string | null;
  version: bigint;
  createdAt: Date;
  updatedAt: Date;
}

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

export interface Refund {
  orgId: string;
  refundId: string;
  walletId: string;
  amountWon: Won;
  memo: string | null;
  createdAt: Date;
}

export interface Payment {
  orgId: string;
  paymentId: string;
  status: "PAID" | "CANCELLED";
  payerWalletId: string;
  receiverWalletId: string;
  amountWon: Won;
  governmentWon: Won;
  incentiveWon: Won;
  normalWon: Won;
  accruedWon: Won;
  memo: string | null;
  cancelId: string | null;
  version: bigint;
  createdAt: Date;
  updatedAt: Date;
}

export interface PaymentCancel {
  cancelId: string;
  restoredIncentiveWon: Won;
  restoredNormalWon: Won;
  clawedBackWon: Won;
  keptWon: Won;
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
