import { LRUCache } from "lru-cache";
import { DomainError } from "@wonrail/kit/contract/errors";

export interface SessionCacheOptions<S> {
  ask: (orgId: string, keyId: string) => Promise<S>;
  /** Milliseconds of a clock that never jumps. */
  monotonicMs: () => number;
}

const MAX_SESSIONS = 10_000;
const MAX_AGE_MS = 1_000;
/** Few, so that sessions never delay the look-ups and leases that share the connection to auth. */
const MAX_CALLS = 16;

/** Caches each key's session for a second. Concurrent requests share one call. */
export function createSessionCache<S>({ ask, monotonicMs }: SessionCacheOptions<S>) {
  const sessions = new LRUCache<string, { answer: Promise<S>; untilMs: number }>({ max: MAX_SESSIONS });
  let running = 0;

  async function call(orgId: string, keyId: string): Promise<S> {
    if (running >= MAX_CALLS) throw new DomainError("SYS_002", { retryAfterMs: 1000 });
    running += 1;
    try {
      return await ask(orgId, keyId);
    } catch (error) {
      sessions.delete(keyId);
      throw error;
    } finally {
      running -= 1;
    }
  }

  return (orgId: string, keyId: string): Promise<S> => {
    const known = sessions.get(keyId);
    if (known && monotonicMs() < known.untilMs) return known.answer;
    const answer = call(orgId, keyId);
    sessions.set(keyId, { answer, untilMs: monotonicMs() + MAX_AGE_MS });
    return answer;
  };
}
