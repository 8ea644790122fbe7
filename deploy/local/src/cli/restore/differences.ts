import { type Drift } from "@wonrail/proto/relayer/v1/admin";

export const MOST_DIFFERENCES = 10_000;

/** A difference as a row for people. Amounts are token units. */
export function differenceRow({ driftId, kind, orgId, walletId, subject, ...rest }: Drift) {
  const { expected, actual, blockNumber } = rest;
  return {
    ...{ drift: driftId, kind, orgId, walletId, subject, expected, actual },
    ...{ difference: BigInt(actual) - BigInt(expected), blockNumber },
  };
}
