import { DomainError, assert } from "@wonrail/kit/contract/errors";
import { ZERO_WON, won, type Won } from "@wonrail/kit/contract/money";
import {
  accountOfPosting,
  availableOf,
  canPay,
  minus,
  post,
  requireAvailable,
  requirePaying,
  requireReceiving,
  type Book,
} from "../../domain/book";
import type { CancelPayment } from "../../domain/intents";
import { fundMove, move } from "../../domain/paymentMoves";
import { paymentMade } from "../../domain/results";
import { type WalletType } from "../../domain/accountTypes";
import { requestKey, type Account, type Entry, type LedgerRequest } from "../../domain/types";
import { anyId } from "../fields";
import type { IntentModule } from "../intent";

export const cancelPayment: IntentModule<"cancelPayment"> = {
  poster: "payment",
  read: ({ paymentRequestId }) => ({
    kind: "cancelPayment",
    paymentRequestId: anyId(paymentRequestId, "paymentRequestId"),
  }),
  requiredState: ({ paymentRequestId }) => ({ orgAccounts: ["ORG_INCENTIVE"], paymentRequestId }),
  content: ({ paymentRequestId }) => [paymentRequestId],
  decide: cancel,
};

/**
 * Returns a payment to the paying wallets, completely and once. If the INCENTIVE wallet no longer
 * holds the whole accrual, the normal part is reduced by the missing amount.
 */
function cancel(book: Book, request: LedgerRequest, { paymentRequestId }: CancelPayment): Entry {
  const key = requestKey(request.orgId, paymentRequestId);
  const original = book.requests.get(key)?.outcome;
  if (original?.status !== "posted" || original.entry.kind !== "payment") {
    throw new DomainError("PAY_004", null);
  }
  if (book.cancelledPayments.has(key)) throw new DomainError("PAY_003", { paymentId: paymentRequestId });

  const { government, incentive, normal, receiver } = walletsOfPayment(book, original.entry);
  const { governmentWon, incentiveWon, normalWon, incentiveAccruedWon } = paymentMade(
    original.entry.postings,
  );
  const amountWon = won(governmentWon + incentiveWon + normalWon);
  requirePaying(receiver);
  requireAvailable(receiver, amountWon, "PAY_001");
  const clawedBackWon = clawBack(incentive, incentiveWon, incentiveAccruedWon);
  const keptWon = won(incentiveAccruedWon - clawedBackWon);
  const moves = [
    ...move(receiver, "PAYMENT_CANCEL", minus(amountWon)),
    ...move(government, "PAYMENT_CANCEL", governmentWon),
    ...move(incentive, "INCENTIVE_USE_CANCEL", incentiveWon),
    ...move(normal, "PAYMENT_CANCEL", won(normalWon - keptWon)),
    ...move(incentive, "INCENTIVE_CANCEL", minus(clawedBackWon)),
    ...fundMove(book, request.orgId, "INCENTIVE_CANCEL", incentiveAccruedWon),
  ];
  for (const { account, amountWon } of moves) if (amountWon > 0n) requireReceiving(account);
  const entry = post(book, request, moves);
  const { orgId, requestId: cancelRequestId } = request;
  book.cancelledPayments.add(key);
  book.changes.cancelledPayments.push({ orgId, paymentRequestId, cancelRequestId });
  entry.original = original.entry;
  return entry;
}

/** A closed or frozen INCENTIVE wallet gives nothing back. */
function clawBack(incentive: Account | undefined, restoredWon: Won, accruedWon: Won): Won {
  if (!incentive || !canPay(incentive)) return ZERO_WON;
  const availableWon = availableOf(incentive) + restoredWon;
  return availableWon < accruedWon ? won(availableWon) : accruedWon;
}

function walletsOfPayment(book: Book, { postings }: Entry) {
  const wallet = (type: WalletType, incoming: boolean) => {
    const posting = postings.find(
      (posting) => posting.accountType === type && posting.amountWon > 0n === incoming,
    );
    return posting && accountOfPosting(book, posting);
  };
  const receiver = wallet("NORMAL", true);
  assert(receiver, "a payment has a receiver");
  return {
    government: wallet("GOVERNMENT", false),
    incentive: wallet("INCENTIVE", false) ?? wallet("INCENTIVE", true),
    normal: wallet("NORMAL", false),
    receiver,
  };
}
