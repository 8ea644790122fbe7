import { smallest } from "@wonrail/kit/contract/bigints";
import { DomainError } from "@wonrail/kit/contract/errors";
import { ZERO_WON, won, type Won } from "@wonrail/kit/contract/money";
import { tooLittle } from "../../domain/book";

/** In version 1 the GOVERNMENT wallet contributes nothing to a payment. */
const GOVERNMENT_SHARE_WON = ZERO_WON;

interface Split {
  governmentWon: Won;
  incentiveWon: Won;
  normalWon: Won;
}

/** Splits a payment over the payer's available balances, in the fixed order GOVERNMENT, INCENTIVE, NORMAL. */
export function splitPayment(amountWon: Won, available: Split, incentiveAmountWon: Won | null): Split {
  const governmentWon = smallest(amountWon, available.governmentWon, GOVERNMENT_SHARE_WON);
  const afterGovernmentWon = won(amountWon - governmentWon);
  const incentiveWon = incentivePart(afterGovernmentWon, available.incentiveWon, incentiveAmountWon);
  const normalWon = won(afterGovernmentWon - incentiveWon);
  if (normalWon > available.normalWon) {
    const usableWon = incentiveAmountWon ?? available.incentiveWon;
    throw tooLittle("PAY_001", won(governmentWon + usableWon + available.normalWon), amountWon);
  }
  return { governmentWon, incentiveWon, normalWon };
}

function incentivePart(amountWon: Won, availableWon: Won, askedWon: Won | null): Won {
  if (askedWon === null) return smallest(amountWon, availableWon);
  if (askedWon > availableWon) throw new DomainError("PAY_006", { reason: "over_balance" });
  if (askedWon > amountWon) throw new DomainError("PAY_006", { reason: "over_amount" });
  return askedWon;
}
