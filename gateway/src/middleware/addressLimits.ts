import { BoundedMap } from "@wonrail/kit/boundedMap";
import { clientNetwork } from "@wonrail/kit/clientNetwork";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type RateState } from "./rates";

export interface AddressLimits {
  /** Throws an AddressLimitError when the address has used up what it may do. Takes nothing. */
  check(address: string): void;
  take(address: string): void;
}

/** RATE_001, and what the RateLimit headers say of the bucket that refused. */
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

/** How many addresses are remembered. One that is forgotten starts afresh, which an attacker with more addresses has anyway. */
const MAX_ADDRESSES = 20_000;

/** A bucket per address, in memory: for callers whom nothing but their address tells apart. */
export function createAddressLimits({ perSecond, burst, monotonicMs }: AddressLimitsOptions): AddressLimits {
  const buckets = new BoundedMap<string, { tokens: number; atMs: number }>(MAX_ADDRESSES);

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
      // Whoever was let through at once, before any of them was counted, is paid back in the end.
      buckets.set(network, { tokens: tokensOf(network) - 1, atMs: monotonicMs() });
    },
  };
}
