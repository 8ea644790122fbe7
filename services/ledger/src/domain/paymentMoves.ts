import { smallest } from "@wonrail/kit/contract/bigints";
import { DomainError, assert } from "@wonrail/kit/contract/errors";
import { ZERO_WON, won, type Won } from "@wonrail/kit/contract/money";
import {
  accountOfPosting,
  availableOf,
  canPay,
  minus,
  orgAccountOf,
  post,
  requireAvailable,
  requirePaying,
  requireReceiving,
  type Book,
  type Move,
} from "./book";
import type { PaymentMade } from "./results";
import type { WalletType } from "./accountTypes";
import { requestKey, type Account, type Entry, type LedgerRequest } from "./types";

/** Parts of a payment, of its cancellation and of its refunds. An amount of 0 moves nothing. */

/** Moves money of the organisation's incentive account. */
export function fundMove(book: Book, orgId: string, type: Move["type"], amountWon: Won): Move[] {
  return amountWon === 0n ? [] : move(orgAccountOf(book, orgId, "ORG_INCENTIVE"), type, amountWon);
}

export function move(account: Account | undefined, type: Move["type"], amountWon: Won): Move[] {
  if (amountWon === 0n) return [];
  assert(account, "a wallet that does not exist takes no part in a payment");
  return [{ account, type, amountWon }];
}

/** Finds a payment that can still be returned. */
export function uncancelledPayment(book: Book, orgId: string, paymentRequestId: string): Entry {
  const key = requestKey(orgId, paymentRequestId);
  const payment = book.requests.get(key)?.outcome;
  if (payment?.status !== "posted" || payment.entry.kind !== "payment")
    throw new DomainError("PAY_004", null);
  if (book.cancelledPayments.has(key)) throw new DomainError("PAY_003", { paymentId: paymentRequestId });
  return payment.entry;
}

/**
 * Returns a part of a payment from the receiver to the paying wallets, and claws the part's accrual
 * back. If the INCENTIVE wallet no longer holds that accrual, the normal part is reduced by the
 * missing amount.
 */
export function returnPart(book: Book, request: LedgerRequest, payment: Entry, part: PaymentMade): Entry {
  const { government, incentive, normal, receiver } = walletsOfPayment(book, payment);
  const { governmentWon, incentiveWon, normalWon, incentiveAccruedWon } = part;
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
  for (const { account } of moves) requireReceiving(account);
  const entry = post(book, request, moves);
  entry.original = payment;
  return entry;
}

/** A closed or frozen INCENTIVE wallet gives nothing back. */
function clawBack(incentive: Account | undefined, restoredWon: Won, accruedWon: Won): Won {
  if (!incentive || !canPay(incentive)) return ZERO_WON;
  return smallest(won(availableOf(incentive) + restoredWon), accruedWon);
}

function walletsOfPayment(book: Book, { postings }: Entry) {
  const received = postings.find(({ accountType, amountWon }) => accountType === "NORMAL" && amountWon > 0n);
  assert(received, "a payment has a receiver");
  const payerWallet = (type: WalletType) => {
    const posting = postings.find((posting) => posting.accountType === type && posting !== received);
    return posting && accountOfPosting(book, posting);
  };
  return {
    government: payerWallet("GOVERNMENT"),
    incentive: payerWallet("INCENTIVE"),
    normal: payerWallet("NORMAL"),
    receiver: accountOfPosting(book, received),
  };
}
