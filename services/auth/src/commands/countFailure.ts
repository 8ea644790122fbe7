import { clientNetwork } from "@wonrail/kit/clientNetwork";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Deps } from "../app";
import { FAILURE_WINDOW_MS, failureSubjects, throttledForMs } from "../domain/throttle";
import { addFailure, findFailures } from "../store/failedAttempts";

/**
 * A wrong credential was shown. Returns what to answer: WAUTH_001, or RATE_001 after too many. It does the same work whether the key
 * exists or not. Who is over the limit costs one read and no write. The caller does not come here with right credentials, so whoever
 * tries out a tenant's key cannot lock the tenant out.
 */
export async function countFailure(
  { db }: Deps,
  prefix: string,
  clientAddress: string,
): Promise<DomainError> {
  const subjects = failureSubjects(prefix, clientNetwork(clientAddress));
  const { counts, now } = await findFailures(db, subjects);
  const throttled = throttledForMs(counts, now);
  if (throttled > 0) return tooMany(throttled);
  const after = throttledForMs(await addFailure(db, subjects, FAILURE_WINDOW_MS), now);
  return after > 0 ? tooMany(after) : new DomainError("WAUTH_001");
}

function tooMany(retryAfterMs: number): DomainError {
  return new DomainError("RATE_001", { retryAfterMs });
}
