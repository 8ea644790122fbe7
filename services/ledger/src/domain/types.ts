import type { ErrorCode } from "@wonrail/kit/contract/errors";
import { hexOf } from "@wonrail/kit/contract/ids";
import type { JsonObject } from "@wonrail/kit/json";
import type { Won } from "@wonrail/kit/contract/money";
import type { AccountType, Freeze, FreezeSource } from "./accountTypes";
import type { Intent, IntentKind } from "./intents";

/** The types of postings: the ten types of the unified listing. */
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

/** Makes a request unique per organisation and scope, whatever request id each attempt has. */
export interface IdempotencyKey {
  scope: string;
  key: string;
  /** SHA-256 of the caller's body, in hex. */
  bodyHash: string;
}

/** An intent with the key or the request id that makes it unique. */
export interface LedgerRequest extends RequestNotes {
  orgId: string;
  /** Its UUID becomes the entry's id. Without a key, a retry brings the same request id. */
  requestId: string;
  key: IdempotencyKey | null;
  /** Hash of everything but policy. A replay of the request id must have the same hash. */
  contentHash: string;
  intent: Intent;
  /** The service that sent it, by its certificate. Null where callers have no certificates. */
  caller: string | null;
  /** The message that it was read from. The event carries it. Absent in tests of pure rules. */
  encode?: () => Uint8Array;
}

/** Texts of the caller that change nothing about the money. */
export interface RequestNotes {
  memo: string | null;
  reference: string | null;
  metadata: Record<string, string>;
  relatedId: string | null;
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
  /** The sequence of the newest posting. */
  sequence: bigint;
  /** The day of Asia/Seoul for which `limitUsedWon` counts. */
  limitDay: number;
  limitUsedWon: Won;
  /** Bits of the transaction types since the last full block of postings: see store/typeBlocks.ts. */
  blockTypes: number;
  frozenByChain: Freeze;
  frozenByOperator: Freeze;
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

/** A wallet's balance right after the intent. */
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

/** All refunds of a payment together, the entry's own included. */
export interface PaymentRefunded {
  refundedWon: Won;
  remainingWon: Won;
}

/** A hold as an entry left it. */
export interface HoldAfter {
  walletId: string;
  toAddress: string;
  amountWon: Won;
  state: HoldState;
  holdRequestId: string;
  /** Sequence of the account's newest posting before the hold. */
  sequence: bigint;
}

/** The freeze of one source after an entry. */
export interface WalletFreeze {
  walletId: string;
  source: FreezeSource;
  freeze: Freeze;
}

/** A posted request. The journal keeps it unchanged. */
export interface Entry extends RequestNotes {
  kind: IntentKind;
  orgId: string;
  requestId: string;
  postedAtMs: number;
  /** Numbers the organisation's entries in commit order, from 1, without gaps. */
  orgSequence: bigint;
  postings: Posting[];
  balances: BalanceAfter[];
  chargeCancelled: ChargeCancelled | null;
  paymentRefunded: PaymentRefunded | null;
  /** The hold that placeHold, postHold and voidHold changed. */
  hold: HoldAfter | null;
  /** The receiver's address of a transfer. */
  toAddress: string | null;
  /** The payer's wallet that a payment's request named. It may have paid nothing. */
  payerWalletId: string | null;
  /** The freeze that freezeAccount set. */
  freeze: WalletFreeze | null;
  /** The entry that a cancellation cancels, a refund refunds, or whose hold ends. Null when that entry's month left the journal. */
  original: Entry | null;
}

export type Outcome =
  | { status: "posted"; entry: Entry }
  | { status: "refused"; code: ErrorCode; details: JsonObject | null };

export function refusal(code: ErrorCode, details: JsonObject | null): Outcome {
  return { status: "refused", code, details };
}

/** The id, the key or the log belongs to another request. */
export const REUSED = refusal("REQ_003", null);

/** A request that was answered before, in the journal or earlier in this batch. */
export interface AnsweredRequest {
  contentHash: string;
  outcome: Outcome;
}

/** Names a request. Its id may have any prefix. */
export interface RequestRef {
  orgId: string;
  requestId: string;
}

/** Which request an idempotency key belongs to. */
export interface UsedKey {
  requestId: string;
  bodyHash: string;
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
  /** Sequence of the account's newest posting before the hold. */
  sequence: bigint;
}

/** Number of an account's postings per entry of the index by type. */
export const POSTINGS_PER_BLOCK = 128n;

/** Identifies an idempotency key among all organisations. A scope contains no space. */
export function keyOf(orgId: string, { scope, key }: Pick<IdempotencyKey, "scope" | "key">): string {
  return `${orgId} ${scope} ${key}`;
}

/** Identifies a request by its organisation and the UUID in its id, whatever the id's prefix. */
export function requestKey(orgId: string, requestId: string): string {
  return `${orgId} ${hexOf(requestId)}`;
}

/** The call from outside that asked for a request: X-Request-Id and trace. */
export interface Origin {
  requestId: string;
  traceparent: string;
}

/** An entry as it is read from the journal. */
export interface JournalEntry extends Entry {
  /** Null when no call from outside asked for it. */
  origin: { requestId: string; traceId: string } | null;
}
