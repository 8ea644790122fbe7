import { smallest } from "@wonrail/kit/contract/bigints";
import { ZERO_WON, won, type Won } from "@wonrail/kit/contract/money";
import type { PaymentMade } from "../../domain/results";

/**
 * The part of a payment that a refund returns after `refundedWon` was refunded. The parts are the
 * differences of a running sum, so they add up exactly to the payment and its accrual.
 */
export function partOfPayment(made: PaymentMade, refundedWon: Won, amountWon: Won): PaymentMade {
  const before = returnedUpTo(made, refundedWon);
  const after = returnedUpTo(made, won(refundedWon + amountWon));
  return {
    governmentWon: won(after.governmentWon - before.governmentWon),
    incentiveWon: won(after.incentiveWon - before.incentiveWon),
    normalWon: won(after.normalWon - before.normalWon),
    incentiveAccruedWon: won(after.incentiveAccruedWon - before.incentiveAccruedWon),
  };
}

/** Reverses the waterfall: NORMAL, then INCENTIVE, then GOVERNMENT. */
function returnedUpTo(made: PaymentMade, refundedWon: Won): PaymentMade {
  const normalWon = smallest(refundedWon, made.normalWon);
  const incentiveWon = smallest(won(refundedWon - normalWon), made.incentiveWon);
  const governmentWon = won(refundedWon - normalWon - incentiveWon);
  const incentiveAccruedWon = won(made.incentiveAccruedWon - accrualOfRest(made, normalWon));
  return { governmentWon, incentiveWon, normalWon, incentiveAccruedWon };
}

/** The accrual that the payer keeps: that on the rest of the normal part, rounded down. */
function accrualOfRest({ normalWon, incentiveAccruedWon }: PaymentMade, returnedWon: Won): Won {
  if (normalWon === 0n) return ZERO_WON;
  return won((incentiveAccruedWon * (normalWon - returnedWon)) / normalWon);
}
