import { DomainError } from "@wonrail/kit/contract/errors";
import { toErrorDetail } from "@wonrail/kit/grpc/server";
import { hexOf } from "@wonrail/kit/contract/ids";
import { formatWon, sumWon, won } from "@wonrail/kit/contract/money";
import {
  AccountType,
  Freeze,
  FreezeSource,
  IntentKind,
  TransactionType,
} from "@wonrail/proto/ledger/v1/intents";
import {
  AccountStatus,
  HoldStatus,
  type Account as AccountMessage,
  type BalanceAfter as BalanceMessage,
  type Entry as EntryMessage,
  type GetTotalsResponse,
  type Hold as HoldMessage,
  type PaymentCancelled as PaymentCancelledMessage,
  type PostOutcome,
  type Posting as PostingMessage,
  type RequestState as RequestStateMessage,
  type StatementLine as LineMessage,
  type TogetherOutcome,
  type WalletFreeze as FreezeMessage,
} from "@wonrail/proto/ledger/v1/ledger";
import { seoulDay, usedOn } from "./domain/limits";
import { paymentCancelled, paymentMade, type PaymentCancelled } from "./domain/results";
import { isOrgAccount } from "./domain/accountTypes";
import {
  type Account,
  type BalanceAfter,
  type Entry,
  type HoldAfter,
  type JournalEntry,
  type Outcome,
  type Posting,
  type WalletFreeze,
} from "./domain/types";
import type { Answer } from "./intents/decide";
import type { RequestState } from "./queries/getEntries";
import type { TypeTotal } from "./store/accounts";
import type { StatementLine } from "./store/statements";

/** Translates the ledger's types into messages of the contract. */

export function outcomeMessage(outcome: Outcome, replayed = false): PostOutcome {
  if (outcome.status === "posted") {
    return { outcome: { $case: "posted", value: entryMessage(outcome.entry) }, replayed };
  }
  return { outcome: { $case: "error", value: refusalMessage(outcome) }, replayed };
}

/** An item of a group. The id of a replayed entry is that of the earlier request. */
export function togetherMessage({ outcome }: Answer): TogetherOutcome {
  return outcome.status === "posted"
    ? { outcome: { $case: "requestId", value: outcome.entry.requestId } }
    : { outcome: { $case: "error", value: refusalMessage(outcome) } };
}

function refusalMessage({ code, details }: Extract<Outcome, { status: "refused" }>) {
  return toErrorDetail(new DomainError(code, details));
}

/** The message of an entry that was read from the journal. */
export function journalMessage({ origin, ...entry }: JournalEntry): EntryMessage {
  return { ...entryMessage(entry), origin: origin ?? undefined };
}

export function entryMessage(entry: Entry): EntryMessage {
  return {
    entryId: entryIdOf(entry.requestId),
    requestId: entry.requestId,
    relatedId: entry.relatedId ?? entry.requestId,
    kind: kinds[entry.kind],
    postedAt: new Date(entry.postedAtMs),
    orgSequence: entry.orgSequence,
    memo: entry.memo ?? undefined,
    reference: entry.reference ?? undefined,
    metadata: entry.metadata,
    postings: entry.postings.map(postingMessage),
    balances: entry.balances.map(balanceMessage),
    result: resultMessage(entry),
    original: entry.original === null ? undefined : entryMessage(entry.original),
  };
}

function balanceMessage({ accountId, balanceWon, heldWon, sequence }: BalanceAfter): BalanceMessage {
  return {
    accountId,
    balanceWon: formatWon(balanceWon),
    heldWon: formatWon(heldWon),
    availableWon: formatWon(won(balanceWon - heldWon)),
    sequence,
  };
}

function postingMessage(posting: Posting): PostingMessage {
  return {
    accountId: posting.accountId,
    type: TransactionType[posting.type],
    amountWon: formatWon(posting.amountWon),
    balanceAfterWon: formatWon(posting.balanceAfterWon),
    sequence: posting.sequence,
  };
}

function entryIdOf(requestId: string): string {
  return `jrn_${hexOf(requestId)}`;
}

const kinds: Record<Entry["kind"], IntentKind> = {
  openAccount: IntentKind.OPEN_ACCOUNT,
  closeAccount: IntentKind.CLOSE_ACCOUNT,
  charge: IntentKind.CHARGE,
  cancelCharge: IntentKind.CANCEL_CHARGE,
  refund: IntentKind.REFUND,
  transfer: IntentKind.TRANSFER,
  payment: IntentKind.PAYMENT,
  cancelPayment: IntentKind.CANCEL_PAYMENT,
  refundPayment: IntentKind.REFUND_PAYMENT,
  freezeAccount: IntentKind.FREEZE_ACCOUNT,
  placeHold: IntentKind.PLACE_HOLD,
  postHold: IntentKind.POST_HOLD,
  voidHold: IntentKind.VOID_HOLD,
  creditExternal: IntentKind.CREDIT_EXTERNAL,
  reopenAccount: IntentKind.REOPEN_ACCOUNT,
};

function resultMessage({
  kind,
  postings,
  chargeCancelled,
  paymentRefunded,
  hold,
  toAddress,
  payerWalletId,
  freeze,
}: Entry): EntryMessage["result"] {
  if (hold !== null) return { $case: "hold", value: holdMessage(hold) };
  if (toAddress !== null) return { $case: "transferMade", value: { toAddress } };
  if (freeze !== null) return { $case: "walletFreeze", value: freezeMessage(freeze) };
  if (chargeCancelled !== null) {
    const { cancelledWon, remainingWon } = chargeCancelled;
    return {
      $case: "chargeCancelled",
      value: { cancelledWon: formatWon(cancelledWon), remainingWon: formatWon(remainingWon) },
    };
  }
  if (kind === "payment") {
    const made = paymentMade(postings);
    return {
      $case: "paymentMade",
      value: {
        governmentWon: formatWon(made.governmentWon),
        incentiveWon: formatWon(made.incentiveWon),
        normalWon: formatWon(made.normalWon),
        incentiveAccruedWon: formatWon(made.incentiveAccruedWon),
        payerWalletId: payerWalletId!,
      },
    };
  }
  if (paymentRefunded !== null) {
    const part = cancelledMessage(paymentCancelled(postings));
    const refundedWon = formatWon(paymentRefunded.refundedWon);
    const remainingWon = formatWon(paymentRefunded.remainingWon);
    return { $case: "paymentRefunded", value: { part, refundedWon, remainingWon } };
  }
  if (kind !== "cancelPayment") return undefined;
  return { $case: "paymentCancelled", value: cancelledMessage(paymentCancelled(postings)) };
}

function freezeMessage({ walletId, source, freeze }: WalletFreeze): FreezeMessage {
  return { walletId, source: FreezeSource[source], freeze: Freeze[freeze] };
}

function cancelledMessage(cancelled: PaymentCancelled): PaymentCancelledMessage {
  return {
    restoredGovernmentWon: formatWon(cancelled.restoredGovernmentWon),
    restoredIncentiveWon: formatWon(cancelled.restoredIncentiveWon),
    restoredNormalWon: formatWon(cancelled.restoredNormalWon),
    incentiveClawedBackWon: formatWon(cancelled.incentiveClawedBackWon),
    keptFromNormalWon: formatWon(cancelled.keptFromNormalWon),
  };
}

export function accountMessage(account: Account): AccountMessage {
  const { closedAtMs, balanceWon, heldWon } = account;
  return {
    accountId: account.id,
    type: AccountType[account.type],
    userId: account.userId ?? undefined,
    status: closedAtMs === null ? AccountStatus.OPEN : AccountStatus.CLOSED,
    balanceWon: formatWon(balanceWon),
    heldWon: formatWon(heldWon),
    availableWon: formatWon(won(balanceWon - heldWon)),
    sequence: account.sequence,
    transferredTodayWon: formatWon(usedOn(account, seoulDay(Date.now()))),
    openedAt: new Date(account.openedAtMs),
    closedAt: closedAtMs === null ? undefined : new Date(closedAtMs),
  };
}

export function lineMessage(line: StatementLine): LineMessage {
  return {
    entryId: entryIdOf(line.requestId),
    requestId: line.requestId,
    relatedId: line.relatedId ?? line.requestId,
    posting: postingMessage(line.posting),
    counterpartyAccountIds: line.counterpartyIds,
    memo: line.memo ?? undefined,
    reference: line.reference ?? undefined,
    postedAt: new Date(line.postedAtMs),
  };
}

export function requestStateMessage(state: RequestState): RequestStateMessage {
  const { requestId, origin, outcome, hold, cancelledWon, cancellations } = state;
  return {
    requestId,
    outcome:
      outcome.status === "posted"
        ? {
            outcome: { $case: "posted", value: journalMessage({ ...outcome.entry, origin }) },
            replayed: false,
          }
        : outcomeMessage(outcome),
    hold: hold === null ? undefined : holdMessage(hold),
    cancelledWon: formatWon(cancelledWon),
    cancellations: cancellations.map((entry) => entryMessage({ ...entry, original: null })),
  };
}

const holdStatuses = { open: HoldStatus.OPEN, posted: HoldStatus.POSTED, voided: HoldStatus.VOIDED };

function holdMessage({
  walletId,
  toAddress,
  amountWon,
  state,
  holdRequestId,
  sequence,
}: HoldAfter): HoldMessage {
  return {
    walletId,
    toAddress,
    amountWon: formatWon(amountWon),
    status: holdStatuses[state],
    holdRequestId,
    sequence,
  };
}

export function totalsMessage(totals: TypeTotal[]): GetTotalsResponse {
  const wallets = totals.filter(({ type }) => !isOrgAccount(type));
  return {
    totals: totals.map(({ type, accounts, balanceWon }) => ({
      type: AccountType[type],
      accounts,
      balanceWon: formatWon(balanceWon),
    })),
    walletsWon: formatWon(sumWon(wallets.map(({ balanceWon }) => balanceWon))),
    heldWon: formatWon(sumWon(wallets.map(({ heldWon }) => heldWon))),
  };
}
