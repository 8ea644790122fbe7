/**
 * How long a lease of requests may be used. A request let through at time t was drawn after t − 1 s, and what is drawn in any time
 * is at most rate × time + burst; so in any window of W seconds no more than rate × (W + 1) + burst requests get through, however
 * many gateways there are and whatever happens to them.
 */
export const RATE_LEASE_MS = 1_000;

export interface RateRule {
  readonly perSecond: number;
  readonly burst: number;
}

/** Thousandths of a token, so that refilling is exact: `perSecond` of them come in each millisecond. */
export interface RateBucket {
  readonly millitokens: bigint;
  readonly refilledAt: Date;
}

export interface RateDraw {
  readonly bucket: RateBucket;
  readonly granted: number;
  readonly remaining: number;
  /** When another token will be there; 0 when one is. */
  readonly retryAfterMs: number;
}

/** A clock does not step back so far unless it is set: nobody waits until it has come to where it was. */
const SET_BACK_MS = 10_000;

/** A clock that steps back a little refills nothing and takes nothing away; one that is set back goes on from there. */
function refill({ refilledAt: lastAt, ...bucket }: RateBucket, rule: RateRule, now: Date): RateBucket {
  const sinceMs = now.getTime() - lastAt.getTime();
  if (sinceMs < -SET_BACK_MS) return { ...bucket, refilledAt: now };
  const elapsedMs = Math.max(0, sinceMs);
  const capacity = BigInt(rule.burst) * 1000n;
  const filled = bucket.millitokens + BigInt(elapsedMs) * BigInt(rule.perSecond);
  const refilledAt = new Date(lastAt.getTime() + elapsedMs);
  return { millitokens: filled < capacity ? filled : capacity, refilledAt };
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
    retryAfterMs: left >= 1000n ? 0 : Math.ceil(Number(1000n - left) / rule.perSecond),
  };
}

/** All that is wanted while there is enough. When there is not, half: another gateway that asks at the same moment needs some too. */
function share(available: number, wanted: number): number {
  return wanted <= available ? wanted : Math.ceil(available / 2);
}
