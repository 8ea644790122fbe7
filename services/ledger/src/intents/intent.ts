import type { PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import type { Book } from "../domain/book";
import type { OrgAccountType } from "../domain/accountTypes";
import type { IntentKind, IntentOf } from "../domain/intents";
import type { Entry, LedgerRequest } from "../domain/types";

/** Everything about one kind of intent. */
export interface IntentModule<K extends IntentKind> {
  /** The only service that may post it, where callers have identities. */
  poster: "wallet" | "payment" | "chain-relayer";
  /** Reads the message of the contract. A malformed field is REQ_001. */
  read(value: MessageOf<K>): IntentOf<K>;
  /** The rows that must be locked and read before the rule can decide. */
  requiredState(intent: IntentOf<K>): RequiredState;
  /**
   * The parts that distinguish two requests. Policies are excluded, because they may change before
   * a retry.
   */
  content(intent: IntentOf<K>): (string | null)[];
  /** The rule. It throws a refusal before it changes the book. */
  decide(book: Book, request: LedgerRequest, intent: IntentOf<K>): Entry;
}

export type MessageOf<K extends IntentKind> = Extract<
  NonNullable<PostRequest["intent"]>,
  { $case: K }
>["value"];

export interface RequiredState {
  walletIds?: string[];
  orgAccounts?: OrgAccountType[];
  /** All wallets of this wallet's user take part. */
  userOfWalletId?: string;
  /** All wallets of this user are read. */
  userId?: string;
  /** The charge that is cancelled, with the accounts of its postings. */
  chargeRequestId?: string;
  /** The payment that is cancelled, with the accounts of its postings. */
  paymentRequestId?: string;
  holdRequestId?: string;
  chainLogId?: string;
  /** True when it may open an account, which needs a number. */
  opensAccount?: boolean;
}
