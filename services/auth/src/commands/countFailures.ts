import { clientNetwork } from "@wonrail/kit/clientNetwork";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Outcome } from "@wonrail/kit/batchQueue";
import { type Deps } from "./deps";
import { type FailedCredential, failureSubjects, judgeFailures } from "../domain/throttle";
import { addFailures, findFailures } from "../store/failedAttempts";

/**
 * Counts wrong credentials and returns the refusal of each: WAUTH_001, or RATE_001 after too many.
 * All queued failures share one connection, so guesses cannot use up the pool. The work is equal
 * for known and unknown keys. Valid credentials are never counted, so a guesser cannot lock out a
 * tenant.
 */
export async function countFailures(
  { db }: Pick<Deps, "db">,
  failures: FailedCredential[],
): Promise<Outcome<DomainError>[]> {
  const attempts = failures.map(({ prefix, clientAddress }) =>
    failureSubjects(prefix, clientNetwork(clientAddress)),
  );
  const { counts, now } = await findFailures(db, attempts.flat());
  const { waitsMs, added } = judgeFailures(attempts, counts, now);
  if (added.length > 0) await addFailures(db, added);
  return waitsMs.map((retryAfterMs) => ({
    ok: true,
    value: retryAfterMs > 0 ? new DomainError("RATE_001", { retryAfterMs }) : new DomainError("WAUTH_001"),
  }));
}
