import { type Won } from "@wonrail/kit/contract/money";

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
  /** Null while it is PAID. */
  cancel: PaymentCancel | null;
  version: bigint;
  createdAt: Date;
  updatedAt: Date;
}

/** What of it goes its own way on the chain: itself, and its cancellation. */
export function ledgerRefsOf({ paymentId, cancel }: Payment): string[] {
  return cancel === null ? [paymentId] : [paymentId, cancel.cancelId];
}

export interface PaymentCancel {
  cancelId: string;
  memo: string | null;
  createdAt: Date;
  /** Null where an earlier release has cancelled it and its answer was forgotten. */
  amounts: CancelAmounts | null;
}

/** What it did, as the ledger said. */
export interface CancelAmounts {
  restoredIncentiveWon: Won;
  restoredNormalWon: Won;
  clawedBackWon: Won;
  keptWon: Won;
}
