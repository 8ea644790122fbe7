import { type Observed } from "./facts";
import { type Violation } from "./violation";

/** Each delivery has a valid signature, and the ledger's own verification finds nothing. */
export function checkObserved({ forgedDeliveries, verification }: Omit<Observed, "samples">): Violation[] {
  const forged = forgedDeliveries.map((delivery) =>
    violation("signatures", `a delivery has no valid signature: ${delivery}`),
  );
  const isVerified = verification === null || /^0 violations|\s0 violations/.test(verification);
  return isVerified ? forged : [...forged, violation("verification", verification)];
}

function violation(check: string, message: string): Violation {
  return { check, organisation: "all", message, operations: [] };
}
