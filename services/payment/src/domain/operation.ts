import { type IdPrefix } from "@wonrail/kit/contract/ids";

export type Kind = "TRANSFER" | "CHARGE" | "CANCEL_CHARGE" | "REFUND" | "PAY" | "CANCEL_PAYMENT";

export const KIND_PREFIX = {
  TRANSFER: "trf",
  CHARGE: "chg",
  CANCEL_CHARGE: "ccl",
  REFUND: "rfd",
  PAY: "pay",
  CANCEL_PAYMENT: "pcl",
} as const satisfies Record<Kind, IdPrefix>;

/** A command that was taken on: what is to be done, and the id under which it is done once. Amounts are decimal strings, as stored. */
export type Input =
  TransferInput | ChargeInput | CancelChargeInput | RefundInput | PayInput | CancelPaymentInput;

export interface TransferInput {
  kind: "TRANSFER";
  fromWalletId: string;
  toAddress: string;
  /** Null: the address is not one of the organisation's wallets, so the money leaves. */
  toWalletId: string | null;
  amountWon: string;
  dailyLimitWon: string;
  memo: string | null;
}

export interface ChargeInput {
  kind: "CHARGE";
  walletId: string;
  amountWon: string;
  memo: string | null;
}

export interface CancelChargeInput {
  kind: "CANCEL_CHARGE";
  chargeId: string;
  /** Null: all that remains. */
  amountWon: string | null;
  memo: string | null;
}

export interface RefundInput {
  kind: "REFUND";
  walletId: string;
  memo: string | null;
}

export interface PayInput {
  kind: "PAY";
  payerWalletId: string;
  receiverWalletId: string;
  amountWon: string;
  /** Null: the whole INCENTIVE balance, as far as the amount goes. */
  incentiveAmountWon: string | null;
  accrualRateBps: number;
  memo: string | null;
}

export interface CancelPaymentInput {
  kind: "CANCEL_PAYMENT";
  paymentId: string;
  memo: string | null;
}

export interface Operation<I extends Input = Input> {
  orgId: string;
  operationId: string;
  input: I;
  /** Of the HTTP request that brought it: its later steps log and publish under it. */
  requestId: string;
  traceparent: string;
  createdAt: Date;
}
