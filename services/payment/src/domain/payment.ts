import { type Won } from "@wonrail/kit/money";

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

/** What of it goes its own way on the chain: itself, and its cancellation. */
export function ledgerRefsOf({ paymentId, cancelId }: Payment): string[] {
  return cancelId === null ? [paymentId] : [paymentId, cancelId];
}

export interface PaymentCancel {
  cancelId: string;
  restoredIncentiveWon: Won;
  restoredNormalWon: Won;
  clawedBackWon: Won;
  keptWon: Won;
}
