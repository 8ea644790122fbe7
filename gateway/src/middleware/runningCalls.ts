import { LRUCache } from "lru-cache";
import { DomainError } from "@wonrail/kit/contract/errors";

/** Limit of concurrent requests per organisation in this process. */
const MAX_RUNNING_PER_ORGANISATION = 1_000;
/**
 * Bounds the memory. Above it the least recently used counter is dropped, and its organisation starts
 * again at 0.
 */
const MAX_COUNTERS = 10_000;

export interface RunningCalls {
  /**
   * Counts one request of the organisation. The caller calls the returned function when the request
   * has ended. Throws RATE_001 when the organisation is at its limit.
   */
  begin(orgId: string): () => void;
}

/**
 * Limits the concurrent requests of each organisation, so that one organisation cannot occupy all
 * capacity of the services behind the gateway.
 */
export function createRunningCalls(maxPerOrganisation = MAX_RUNNING_PER_ORGANISATION): RunningCalls {
  const counters = new LRUCache<string, { running: number }>({ max: MAX_COUNTERS });
  return {
    begin(orgId) {
      const counter = counters.get(orgId) ?? { running: 0 };
      if (counter.running >= maxPerOrganisation) throw new DomainError("RATE_001", { retryAfterMs: 1000 });
      counter.running += 1;
      counters.set(orgId, counter);
      return () => void (counter.running -= 1);
    },
  };
}
