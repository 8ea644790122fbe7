import { largest, smallest } from "@wonrail/kit/contract/bigints";
import { ZERO_WON, won, type Won } from "@wonrail/kit/contract/money";
import type { AccountType } from "./accountTypes";
import type { Posting } from "./types";

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
  return {
    governmentWon: paidBy("GOVERNMENT", postings),
    incentiveWon: paidBy("INCENTIVE", postings),
    normalWon: paidBy("NORMAL", postings),
    incentiveAccruedWon: paidBy("ORG_INCENTIVE", postings),
  };
}

/** Reads a cancellation or a refund. */
export function paymentCancelled(postings: Posting[]): PaymentCancelled {
  const clawedBackWon = paidBy("INCENTIVE", postings);
  return {
    restoredGovernmentWon: receivedBy("GOVERNMENT", postings),
    restoredIncentiveWon: receivedBy("INCENTIVE", postings),
    restoredNormalWon: receivedBy("NORMAL", postings),
    incentiveClawedBackWon: clawedBackWon,
    keptFromNormalWon: won(receivedBy("ORG_INCENTIVE", postings) - clawedBackWon),
  };
}

/** The sign tells the payer's NORMAL wallet from the receiver's. */
function paidBy(type: AccountType, postings: Posting[]): Won {
  return won(-sumOf(type, postings, (amountWon) => smallest(amountWon, ZERO_WON)));
}

function receivedBy(type: AccountType, postings: Posting[]): Won {
  return won(sumOf(type, postings, (amountWon) => largest(amountWon, ZERO_WON)));
}

function sumOf(type: AccountType, postings: Posting[], partOf: (amountWon: Won) => Won): bigint {
  return postings
    .filter(({ accountType }) => accountType === type)
    .reduce((sum, { amountWon }) => sum + partOf(amountWon), 0n);
}
