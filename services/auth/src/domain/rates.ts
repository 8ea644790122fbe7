import { smallest } from "@wonrail/kit/contract/bigints";

/**
 * The life of a rate lease. A request that passes at time t used a token drawn after t − 1 s. Draws
 * in any time are at most rate × time + burst. So in a window of W seconds at most rate × (W + 1) +
 * burst requests pass, for any number of gateways.
 */
export const RATE_LEASE_MS = 1_000;

export interface RateRule {
  readonly perSecond: number;
  readonly burst: number;
}

/** Thousandths of a token, so that the refill is exact: `perSecond` of them per millisecond. */
export interface RateBucket {
  readonly millitokens: bigint;
  readonly refilledAt: Date;
}

export interface RateDraw {
  readonly bucket: RateBucket;
  readonly granted: number;
  readonly remaining: number;
  /** The time until the next token; 0 when one is free. */
  readonly retryAfterMs: number;
}

/** A larger step back means that the clock was set. Requests then do not wait for the old time. */
const SET_BACK_MS = 10_000;

/**
 * A clock that steps back a little neither refills nor drains. A clock that was set back continues
 * from its new time.
 */
function refill({ refilledAt: lastAt, ...bucket }: RateBucket, rule: RateRule, now: Date): RateBucket {
  const sinceMs = now.getTime() - lastAt.getTime();
  if (sinceMs < -SET_BACK_MS) return { ...bucket, refilledAt: now };
  const elapsedMs = Math.max(0, sinceMs);
  const capacity = BigInt(rule.burst) * 1000n;
  const filled = bucket.millitokens + BigInt(elapsedMs) * BigInt(rule.perSecond);
  const refilledAt = new Date(lastAt.getTime() + elapsedMs);
  return { millitokens: smallest(filled, capacity), refilledAt };
}

export function drawTokens(bucket: RateBucket, rule: RateRule, now: Date, wanted: number): RateDraw {
  const filled = refill(bucket, rule, now);
  const available = Number(filled.millitokens / 1000n);
  const granted = share(available, wanted);
  const left = filled.millitokens - BigInt(granted) * 1000n;
  return {
    bucket: { ...filled, millitokens: left },
    granted,
    remaining: available - granted,
    retryAfterMs: Math.max(0, Math.ceil(Number(1000n - left) / rule.perSecond)),
  };
}

/**
 * Grants all wanted tokens while there are enough. Otherwise grants half, so that another gateway
 * gets some too.
 */
function share(available: number, wanted: number): number {
  return wanted <= available ? wanted : Math.ceil(available / 2);
}
