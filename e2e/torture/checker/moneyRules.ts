// The rules of payments in plain numbers, from docs/concepts/waterfall.md.

/** The parts of a payment, in KRW. */
export interface PaymentParts {
  incentive: number;
  normal: number;
  accrued: number;
}

/** The part that the INCENTIVE wallet pays; undefined when it cannot pay the named part. */
export function incentivePart(
  amount: number,
  available: number,
  named: number | null | undefined,
): number | undefined {
  const most = Math.min(amount, available);
  if (named === null || named === undefined) return most;
  return named <= most ? named : undefined;
}

export function accrualOf(normal: number, rateBps: number): number {
  return Number((BigInt(normal) * BigInt(rateBps)) / 10_000n);
}

/** The part of a payment that is returned when the returned sum grows from one amount to another. */
export function returnedPart(payment: PaymentParts, from: number, to: number): PaymentParts {
  const [before, after] = [returnedUpTo(payment, from), returnedUpTo(payment, to)];
  return {
    incentive: after.incentive - before.incentive,
    normal: after.normal - before.normal,
    accrued: after.accrued - before.accrued,
  };
}

/** NORMAL money is returned first. The payer keeps the accrual on its rest, rounded down. */
function returnedUpTo({ incentive, normal, accrued }: PaymentParts, sum: number): PaymentParts {
  const toNormal = Math.min(sum, normal);
  const kept = normal === 0 ? 0 : Number((BigInt(accrued) * BigInt(normal - toNormal)) / BigInt(normal));
  return { incentive: Math.min(sum - toNormal, incentive), normal: toNormal, accrued: accrued - kept };
}
