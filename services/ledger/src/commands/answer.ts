import { formatWon, won } from "@wonrail/kit/money";
import { toErrorDetail } from "@wonrail/kit/grpc/server";
import { DomainError } from "@wonrail/kit/errors";
import { IntentKind, TransactionType } from "@wonrail/proto/ledger/v1/intents";
import type { PostOutcome, PostResponse, Posting as PostingMessage } from "@wonrail/proto/ledger/v1/ledger";
import { paymentCancelled, paymentMade } from "../domain/results";
import type { Entry, Outcome, Posting } from "../domain/types";

/** The answers in the contract's words. */

export function outcomeMessage(outcome: Outcome): PostOutcome {
  if (outcome.status === "posted") {
    return { outcome: { $case: "posted", value: postedMessage(outcome.entry) } };
  }
  const error = toErrorDetail(new DomainError(outcome.code, outcome.details));
  return { outcome: { $case: "error", value: error } };
}

export function postedMessage(entry: Entry): PostResponse {
  return {
    entryId: entryIdOf(entry.requestId),
    requestId: entry.requestId,
    postedAt: new Date(entry.postedAtMs),
    postings: entry.postings.map(postingMessage),
    balances: entry.balances.map(({ accountId, balanceWon, heldWon, sequence }) => ({
      accountId,
      balanceWon: formatWon(balanceWon),
      heldWon: formatWon(heldWon),
      availableWon: formatWon(won(balanceWon - heldWon)),
      sequence,
    })),
    result: resultMessage(entry),
  };
}

export function postingMessage(posting: Posting): PostingMessage {
  return {
    accountId: posting.accountId,
    type: TransactionType[posting.type],
    amountWon: formatWon(posting.amountWon),
    balanceAfterWon: formatWon(posting.balanceAfterWon),
    sequence: posting.sequence,
  };
}

export function entryIdOf(requestId: string): string {
  return `jrn_${requestId.slice(requestId.indexOf("_") + 1)}`;
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
  accrue: IntentKind.ACCRUE,
  placeHold: IntentKind.PLACE_HOLD,
  postHold: IntentKind.POST_HOLD,
  voidHold: IntentKind.VOID_HOLD,
  creditExternal: IntentKind.CREDIT_EXTERNAL,
  reopenAccount: IntentKind.REOPEN_ACCOUNT,
};

export function kindMessage(kind: Entry["kind"]): IntentKind {
  return kinds[kind];
}

function resultMessage({ kind, postings, chargeCancelled }: Entry): PostResponse["result"] {
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
      },
    };
  }
  if (kind !== "cancelPayment") return undefined;
  const cancelled = paymentCancelled(postings);
  return {
    $case: "paymentCancelled",
    value: {
      restoredGovernmentWon: formatWon(cancelled.restoredGovernmentWon),
      restoredIncentiveWon: formatWon(cancelled.restoredIncentiveWon),
      restoredNormalWon: formatWon(cancelled.restoredNormalWon),
      incentiveClawedBackWon: formatWon(cancelled.incentiveClawedBackWon),
      keptFromNormalWon: formatWon(cancelled.keptFromNormalWon),
    },
  };
}
