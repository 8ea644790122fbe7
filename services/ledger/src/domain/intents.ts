import type { Won } from "@wonrail/kit/contract/money";
import type { Freeze, FreezeSource, WalletType } from "./accountTypes";

export type Intent =
  | OpenAccount
  | CloseAccount
  | ReopenAccount
  | FreezeAccount
  | Charge
  | CancelCharge
  | Refund
  | Transfer
  | Payment
  | CancelPayment
  | PlaceHold
  | PostHold
  | VoidHold
  | CreditExternal;

export type IntentKind = Intent["kind"];
export type IntentOf<K extends IntentKind> = Extract<Intent, { kind: K }>;

export interface OpenAccount {
  kind: "openAccount";
  walletId: string;
  userId: string;
  type: WalletType;
}

export interface CloseAccount {
  kind: "closeAccount";
  walletId: string;
}

export interface ReopenAccount {
  kind: "reopenAccount";
  walletId: string;
}

export interface FreezeAccount {
  kind: "freezeAccount";
  walletId: string;
  freeze: Freeze;
  reason: string;
  source: FreezeSource;
}

export interface Charge {
  kind: "charge";
  walletId: string;
  amountWon: Won;
  /** Policy of the organisation for all its charges of one day. */
  dailyLimitWon: Won;
  /** Policy of the organisation for a single charge. */
  maxChargeWon: Won;
}

export interface CancelCharge {
  kind: "cancelCharge";
  chargeRequestId: string;
  /** Null: all that remains. */
  amountWon: Won | null;
}

export interface Refund {
  kind: "refund";
  walletId: string;
}

export interface Transfer {
  kind: "transfer";
  fromWalletId: string;
  toWalletId: string;
  /** The receiver's address in lower case, kept for the answer. */
  toAddress: string;
  amountWon: Won;
  /** Policy of the organisation for the sender's transfers of one day. */
  dailyLimitWon: Won;
}

export interface Payment {
  kind: "payment";
  payerWalletId: string;
  receiverWalletId: string;
  amountWon: Won;
  /** Null: the whole INCENTIVE balance, up to the amount. */
  incentiveAmountWon: Won | null;
  /** Policy of the organisation. */
  accrualRateBps: number;
}

export interface CancelPayment {
  kind: "cancelPayment";
  paymentRequestId: string;
}

export interface PlaceHold {
  kind: "placeHold";
  walletId: string;
  amountWon: Won;
  /** Policy of the organisation for the wallet's transfers of one day. */
  dailyLimitWon: Won;
  toAddress: string;
}

export interface PostHold {
  kind: "postHold";
  holdRequestId: string;
}

export interface VoidHold {
  kind: "voidHold";
  holdRequestId: string;
}

export interface CreditExternal {
  kind: "creditExternal";
  walletId: string;
  amountWon: Won;
  /** Id of the chain's log, which is credited at most once. */
  chainLogId: string;
}
