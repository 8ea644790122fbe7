import type { ErrorCode } from "@wonrail/kit/contract/errors";
import { hexOf } from "@wonrail/kit/contract/ids";
import type { JsonObject } from "@wonrail/kit/json";
import type { Won } from "@wonrail/kit/contract/money";

export type WalletType = "NORMAL" | "INCENTIVE" | "GOVERNMENT";
/** The organisation's own accounts: what was minted for charges, for accruals, and what came from or went to outside addresses. */
export type OrgAccountType = "ORG_ISSUANCE" | "ORG_INCENTIVE" | "ORG_EXTERNAL";
export type AccountType = WalletType | OrgAccountType;

/** What a posting is: the ten types of the unified listing. */
export type TransactionType =
  | "TRANSFER"
  | "CHARGE"
  | "CHARGE_CANCEL"
  | "PAYMENT"
  | "PAYMENT_CANCEL"
  | "REFUND"
  | "INCENTIVE"
  | "INCENTIVE_USE"
  | "INCENTIVE_CANCEL"
  | "INCENTIVE_USE_CANCEL";

export type Intent =
  | { kind: "openAccount"; walletId: string; userId: string; type: WalletType }
  | { kind: "closeAccount"; walletId: string }
  | { kind: "reopenAccount"; walletId: string }
  | { kind: "charge"; walletId: string; amountWon: Won }
  | { kind: "cancelCharge"; chargeRequestId: string; amountWon: Won | null }
  | { kind: "refund"; walletId: string }
  | { kind: "transfer"; fromWalletId: string; toWalletId: string; amountWon: Won; dailyLimitWon: Won }
  | PaymentIntent
  | { kind: "cancelPayment"; paymentRequestId: string }
  | { kind: "accrue"; walletId: string; amountWon: Won }
  | { kind: "placeHold"; walletId: string; amountWon: Won; dailyLimitWon: Won; toAddress: string }
  | { kind: "postHold"; holdRequestId: string }
  | { kind: "voidHold"; holdRequestId: string }
  | { kind: "creditExternal"; walletId: string; amountWon: Won; chainLogId: string };

export interface PaymentIntent {
  kind: "payment";
  payerWalletId: string;
  receiverWalletId: string;
  amountWon: Won;
  /** Null: the whole INCENTIVE balance, as far as the amount goes. */
  incentiveAmountWon: Won | null;
  accrualRateBps: number;
}

export type IntentKind = Intent["kind"];
export type IntentOf<K extends IntentKind> = Extract<Intent, { kind: K }>;

/** One intent with what makes it happen once. */
export interface LedgerRequest {
  orgId: string;
  /** The same on every retry; its UUID becomes the entry's. */
  requestId: string;
  /** Of everything but policy: a replay must have the same. */
  contentHash: string;
  memo: string | null;
  relatedId: string | null;
  requestedAtMs: number | null;
  intent: Intent;
}

export interface Account {
  /** The short name under which postings and locks know the account. */
  number: bigint;
  id: string;
  orgId: string;
  type: AccountType;
  /** Null on the organisation's own accounts. */
  userId: string | null;
  openedAtMs: number;
  closedAtMs: number | null;
  balanceWon: Won;
  heldWon: Won;
  /** Of the newest posting. */
  sequence: bigint;
  /** The day of Asia/Seoul for which `limitUsedWon` counts. */
  limitDay: number;
  limitUsedWon: Won;
  /** Bits of the transaction types since the last full block of postings: see store/typeBlocks.ts. */
  blockTypes: number;
}

export interface Posting {
  accountNumber: bigint;
  accountId: string;
  accountType: AccountType;
  type: TransactionType;
  /** Negative leaves the account. */
  amountWon: Won;
  balanceAfterWon: Won;
  sequence: bigint;
}

/** A wallet as it was right after the intent. */
export interface BalanceAfter {
  accountId: string;
  balanceWon: Won;
  heldWon: Won;
  sequence: bigint;
}

export interface ChargeCancelled {
  cancelledWon: Won;
  remainingWon: Won;
}

/** What was posted for a request. The journal keeps it for ever as it is here. */
export interface Entry {
  kind: IntentKind;
  orgId: string;
  requestId: string;
  relatedId: string | null;
  memo: string | null;
  postedAtMs: number;
  postings: Posting[];
  balances: BalanceAfter[];
  chargeCancelled: ChargeCancelled | null;
}

export type Outcome =
  { status: "posted"; entry: Entry } | { status: "refused"; code: ErrorCode; details: JsonObject | null };

/** A request that was answered before, in the journal or earlier in this batch. */
export interface AnsweredRequest {
  contentHash: string;
  outcome: Outcome;
}

export type HoldState = "open" | "posted" | "voided";

export interface Hold {
  orgId: string;
  requestId: string;
  accountNumber: bigint;
  accountId: string;
  amountWon: Won;
  toAddress: string;
  /** The day of Asia/Seoul whose limit it used. */
  limitDay: number;
  state: HoldState;
}

/** How many postings of an account share one entry of the index by type. */
export const POSTINGS_PER_BLOCK = 128n;

/** Requests are known by organisation and the UUID in their id, whatever its prefix. */
export function requestKey(orgId: string, requestId: string): string {
  return `${orgId} ${hexOf(requestId)}`;
}

export function isOrgAccount(type: AccountType): type is OrgAccountType {
  return type === "ORG_ISSUANCE" || type === "ORG_INCENTIVE" || type === "ORG_EXTERNAL";
}

/** Which call from outside a request belongs to. */
export interface Origin {
  requestId: string;
  traceparent: string;
}
