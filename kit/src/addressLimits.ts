import { LRUCache } from "lru-cache";
import { clientNetwork } from "./clientNetwork";
import { DomainError } from "./contract/errors";

/** Content of the RateLimit headers. */
export interface RateState {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

export interface AddressLimits {
  /** Throws an AddressLimitError when the address has used up its limit. Consumes no token. */
  check(address: string): void;
  take(address: string): void;
  giveBack(address: string): void;
}

/** RATE_001, with the state of the bucket that refused for the RateLimit headers. */
export class AddressLimitError extends DomainError {
  constructor(
    retryAfterMs: number,
    readonly rate: RateState,
  ) {
    super("RATE_001", { retryAfterMs });
  }
}

export interface AddressLimitsOptions {
  perSecond: number;
  burst: number;
  /** Milliseconds of a clock that never jumps. */
  monotonicMs: () => number;
}

/**
 * An evicted address starts with a full bucket. An attacker with more addresses has that anyway.
 */
const MAX_ADDRESSES = 20_000;

/** Keeps a token bucket per address in memory, for callers without a key. */
export function createAddressLimits({ perSecond, burst, monotonicMs }: AddressLimitsOptions): AddressLimits {
  const buckets = new LRUCache<string, { tokens: number; atMs: number }>({ max: MAX_ADDRESSES });

  function tokensOf(network: string): number {
    const bucket = buckets.get(network);
    if (!bucket) return burst;
    return Math.min(burst, bucket.tokens + ((monotonicMs() - bucket.atMs) * perSecond) / 1000);
  }

  return {
    check(address) {
      const tokens = tokensOf(clientNetwork(address));
      if (tokens >= 1) return;
      const rate = { limit: burst, remaining: 0, resetSeconds: Math.ceil((burst - tokens) / perSecond) };
      throw new AddressLimitError(Math.ceil(((1 - tokens) * 1000) / perSecond), rate);
    },
    take(address) {
      const network = clientNetwork(address);
      // May become negative: callers that passed the check together are all counted.
      buckets.set(network, { tokens: tokensOf(network) - 1, atMs: monotonicMs() });
    },
    giveBack(address) {
      const network = clientNetwork(address);
      buckets.set(network, { tokens: Math.min(burst, tokensOf(network) + 1), atMs: monotonicMs() });
    },
  };
}
