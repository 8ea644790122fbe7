import { won, type Won } from "@wonrail/kit/contract/money";
import type { Posting, TransactionType } from "./types";

/** Derives an entry's result from its postings, so that the result is not stored. */

export interface PaymentMade {
  governmentWon: Won;
  incentiveWon: Won;
  normalWon: Won;
  incentiveAccruedWon: Won;
}

export interface PaymentCancelled {
  restoredGovernmentWon: Won;
  restoredIncentiveWon: Won;
  restoredNormalWon: Won;
  incentiveClawedBackWon: Won;
  keptFromNormalWon: Won;
}

export function paymentMade(postings: Posting[]): PaymentMade {
  const paid = (accountType: Posting["accountType"], type: TransactionType) =>
    won(-sumOf(postings, accountType, type, (amountWon) => amountWon < 0n));
  return {
    governmentWon: paid("GOVERNMENT", "PAYMENT"),
    incentiveWon: paid("INCENTIVE", "INCENTIVE_USE"),
    normalWon: paid("NORMAL", "PAYMENT"),
    incentiveAccruedWon: paid("ORG_INCENTIVE", "INCENTIVE"),
  };
}

export function paymentCancelled(postings: Posting[]): PaymentCancelled {
  const restored = (accountType: Posting["accountType"], type: TransactionType) =>
    won(sumOf(postings, accountType, type, (amountWon) => amountWon > 0n));
  const clawedBackWon = won(-sumOf(postings, "INCENTIVE", "INCENTIVE_CANCEL", (amountWon) => amountWon < 0n));
  const accruedWon = restored("ORG_INCENTIVE", "INCENTIVE_CANCEL");
  return {
    restoredGovernmentWon: restored("GOVERNMENT", "PAYMENT_CANCEL"),
    restoredIncentiveWon: restored("INCENTIVE", "INCENTIVE_USE_CANCEL"),
    restoredNormalWon: restored("NORMAL", "PAYMENT_CANCEL"),
    incentiveClawedBackWon: clawedBackWon,
    keptFromNormalWon: won(accruedWon - clawedBackWon),
  };
}

function sumOf(
  postings: Posting[],
  accountType: Posting["accountType"],
  type: TransactionType,
  counts: (amountWon: Won) => boolean,
): bigint {
  return postings
    .filter(
      (posting) => posting.accountType === accountType && posting.type === type && counts(posting.amountWon),
    )
    .reduce((sum, { amountWon }) => sum + amountWon, 0n);
}
