import { LRUCache } from "lru-cache";
import { type RateState } from "@wonrail/kit/addressLimits";
import { DomainError } from "@wonrail/kit/contract/errors";
import { Counter, type Registry } from "@wonrail/kit/metrics";
import { type Principal } from "./principal";

/** auth's answer to a lease request. */
export interface RateLease {
  granted: number;
  /** Counted from the moment the request was sent. */
  validForMs: number;
  ratePerSecond: number;
  rateBurst: number;
  /** Left in the organisation's bucket after this lease. */
  remaining: number;
  retryAfterMs: number;
}

export type LeaseRate = (orgId: string, wanted: number) => Promise<RateLease>;

export interface RatesOptions {
  leaseRate: LeaseRate;
  registry: Registry;
  /** Milliseconds of a clock that never jumps. */
  monotonicMs: () => number;
}

export interface Rates {
  /**
   * Takes one request of the organisation's rate, or refuses with RATE_001. Returns a promise only
   * when a lease must be awaited.
   */
  take(principal: Principal): void | Promise<void>;
  /** Reports nothing remaining for a refused request, whatever was refilled since. */
  state(principal: Principal, refused: boolean): RateState;
}

interface Bucket {
  /** Newest last. Few: each lives for about a second. */
  leases: { left: number; validUntilMs: number }[];
  /** The running lease call, which waiting requests share. */
  leasing: Promise<void> | undefined;
  waiting: number;
  /**
   * Requests admitted since the last lease was requested. The size of the next wish depends on
   * these three.
   */
  usedSinceAsk: number;
  askedAtMs: number;
  lastWanted: number;
  remaining: number;
  refusedUntilMs: number;
  /** This process's own bucket while auth is away. */
  alone: { tokens: number; atMs: number; untilMs: number } | undefined;
}

const MAX_ORGANISATIONS = 10_000;
const MAX_WAITING = 1_000;
const MAX_ROUNDS = 5;
/**
 * A lease should last half of its lifetime of a second, so that almost none of it expires unused.
 */
const LEASE_TARGET_MS = 500;
/** While auth does not answer, one request per step waits for it. */
const ALONE_STEP_MS = 250;

/**
 * Rate limits of organisations, shared by all gateways. auth keeps the bucket, and each gateway
 * leases the requests of the next moment. The next lease is requested early, so that requests at a
 * steady rate never wait. While auth is away, each gateway applies the full rate by itself.
 */
export function createRates({ leaseRate, registry, monotonicMs }: RatesOptions): Rates {
  const buckets = new LRUCache<string, Bucket>({ max: MAX_ORGANISATIONS });
  const alone = new Counter({
    name: "gateway_rate_unshared_total",
    help: "Requests whose rate this process limited alone, because auth was unreachable",
    registers: [registry],
  });

  function take(principal: Principal): void | Promise<void> {
    const bucket = bucketOf(principal.orgId);
    const left = takeLeased(bucket);
    if (left === undefined) return wait(principal, bucket);
    // A quarter is left: request the next lease before this one runs out.
    if (left * 4 <= bucket.lastWanted && !bucket.leasing) void lease(principal, bucket);
  }

  /** Takes one request and returns the rest; undefined when there is none. */
  function takeLeased(bucket: Bucket): number | undefined {
    const now = monotonicMs();
    while (
      bucket.leases.length > 0 &&
      (bucket.leases[0]!.left === 0 || bucket.leases[0]!.validUntilMs <= now)
    ) {
      bucket.leases.shift();
    }
    const first = bucket.leases[0];
    if (!first) return undefined;
    first.left -= 1;
    bucket.usedSinceAsk += 1;
    return bucket.leases.reduce((sum, { left }) => sum + left, 0);
  }

  async function wait(principal: Principal, bucket: Bucket): Promise<void> {
    if (bucket.alone && monotonicMs() < bucket.alone.untilMs) return takeAlone(principal, bucket.alone);
    if (bucket.waiting >= MAX_WAITING) throw rateExceeded(1000);
    bucket.waiting += 1;
    try {
      for (let round = 1; round <= MAX_ROUNDS; round += 1) {
        const refusedForMs = bucket.refusedUntilMs - monotonicMs();
        if (refusedForMs > 0) throw rateExceeded(refusedForMs);
        await (bucket.leasing ?? lease(principal, bucket));
        if (bucket.alone) return takeAlone(principal, bucket.alone);
        if (takeLeased(bucket) !== undefined) return;
      }
      // Earlier requests took every lease: the demand exceeds the rate.
      throw rateExceeded(1000);
    } finally {
      bucket.waiting -= 1;
    }
  }

  function lease(principal: Principal, bucket: Bucket): Promise<void> {
    const sentAtMs = monotonicMs();
    bucket.leasing = leaseRate(principal.orgId, nextLeaseSize(bucket, principal.rateBurst, sentAtMs)).then(
      (answer) => {
        bucket.leasing = bucket.alone = undefined;
        bucket.remaining = answer.remaining;
        if (answer.granted > 0)
          bucket.leases.push({ left: answer.granted, validUntilMs: sentAtMs + answer.validForMs });
        else bucket.refusedUntilMs = monotonicMs() + answer.retryAfterMs;
      },
      () => {
        bucket.leasing = undefined;
        const now = monotonicMs();
        bucket.alone ??= { tokens: principal.rateBurst, atMs: now, untilMs: now };
        bucket.alone.untilMs = now + ALONE_STEP_MS;
      },
    );
    return bucket.leasing;
  }

  /**
   * Wants as many units as requests wait, plus the projected use. At most twice the last
   * request, so that one burst is not taken for a rate.
   */
  function nextLeaseSize(bucket: Bucket, burst: number, now: number): number {
    const elapsedMs = Math.max(1, now - bucket.askedAtMs);
    const projected = Math.ceil((bucket.usedSinceAsk * LEASE_TARGET_MS) / elapsedMs);
    const wanted = bucket.waiting + Math.min(projected, 2 * bucket.lastWanted);
    bucket.lastWanted = Math.max(1, Math.min(wanted, burst));
    bucket.usedSinceAsk = 0;
    bucket.askedAtMs = now;
    return bucket.lastWanted;
  }

  function takeAlone({ ratePerSecond, rateBurst }: Principal, own: NonNullable<Bucket["alone"]>): void {
    const now = monotonicMs();
    own.tokens = Math.min(rateBurst, own.tokens + ((now - own.atMs) * ratePerSecond) / 1000);
    own.atMs = now;
    if (own.tokens < 1) throw rateExceeded(((1 - own.tokens) * 1000) / ratePerSecond);
    own.tokens -= 1;
    alone.inc();
  }

  function bucketOf(orgId: string): Bucket {
    let bucket = buckets.get(orgId);
    if (!bucket) {
      bucket = {
        leases: [],
        leasing: undefined,
        waiting: 0,
        usedSinceAsk: 0,
        askedAtMs: 0,
        lastWanted: 1,
        remaining: 0,
        refusedUntilMs: 0,
        alone: undefined,
      };
      buckets.set(orgId, bucket);
    }
    return bucket;
  }

  return {
    take,
    state({ orgId, ratePerSecond, rateBurst }, refused) {
      const bucket = bucketOf(orgId);
      const left = refused ? 0 : bucket.leases.reduce((sum, lease) => sum + lease.left, bucket.remaining);
      const remaining = Math.max(0, Math.min(rateBurst, left));
      return {
        limit: rateBurst,
        remaining,
        resetSeconds: Math.ceil((rateBurst - remaining) / ratePerSecond),
      };
    },
  };
}

function rateExceeded(retryAfterMs: number): DomainError {
  return new DomainError("RATE_001", { retryAfterMs: Math.ceil(retryAfterMs) });
}
