import { LRUCache } from "lru-cache";
import { DomainError } from "@wonrail/kit/contract/errors";

/** Limit of concurrent requests per organisation in this process. */
const MAX_RUNNING_PER_ORGANISATION = 1_000;
const MAX_ORGANISATIONS = 10_000;

export interface RunningCalls {
  /** Counts a request until the returned function is called. Throws RATE_001 when too many run. */
  begin(orgId: string): () => void;
}

/** Keeps one organisation from occupying the services behind the gateway. */
export function createRunningCalls(maxPerOrganisation = MAX_RUNNING_PER_ORGANISATION): RunningCalls {
  const byOrganisation = new LRUCache<string, { running: number }>({ max: MAX_ORGANISATIONS });
  return {
    begin(orgId) {
      let calls = byOrganisation.get(orgId);
      if (!calls) byOrganisation.set(orgId, (calls = { running: 0 }));
      if (calls.running >= maxPerOrganisation) throw new DomainError("RATE_001", { retryAfterMs: 1000 });
      calls.running += 1;
      const counted = calls;
      return () => void (counted.running -= 1);
    },
  };
}
