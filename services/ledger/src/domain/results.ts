import { won, type Won } from "@wonrail/kit/money";
import type { Line, TransactionType } from "./types";

/** What an entry did can be read off its lines, so that it is kept once only. */

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

export function paymentMade(lines: Line[]): PaymentMade {
  const paid = (accountType: Line["accountType"], type: TransactionType) =>
    won(-sumOf(lines, accountType, type, (amountWon) => amountWon < 0n));
  return {
    governmentWon: paid("GOVERNMENT", "PAYMENT"),
    incentiveWon: paid("INCENTIVE", "INCENTIVE_USE"),
    normalWon: paid("NORMAL", "PAYMENT"),
    incentiveAccruedWon: paid("ORG_INCENTIVE", "INCENTIVE"),
  };
}

export function paymentCancelled(lines: Line[]): PaymentCancelled {
  const restored = (accountType: Line["accountType"], type: TransactionType) =>
    won(sumOf(lines, accountType, type, (amountWon) => amountWon > 0n));
  const clawedBackWon = won(-sumOf(lines, "INCENTIVE", "INCENTIVE_CANCEL", (amountWon) => amountWon < 0n));
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
  lines: Line[],
  accountType: Line["accountType"],
  type: TransactionType,
  counts: (amountWon: Won) => boolean,
): bigint {
  return lines
    .filter((line) => line.accountType === accountType && line.type === type && counts(line.amountWon))
    .reduce((sum, { amountWon }) => sum + amountWon, 0n);
}
