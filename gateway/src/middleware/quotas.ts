import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { DomainError, errorTable, isOutage } from "@wonrail/kit/contract/errors";
import { type Log } from "@wonrail/kit/log";

/** Countable operations of a plan. */
export type QuotaName = "WALLETS" | "MONEY_OPERATIONS" | "RECORDED_TRANSACTIONS";

export interface QuotaLeaseRequest {
  orgId: string;
  quota: QuotaName;
  wanted: number;
  leaseId: string;
  accounts: QuotaAccount[];
}

/** Report on one ended lease. */
export interface QuotaAccount {
  leaseId: string;
  spent: number;
}

/** auth's answer to a lease request. */
export interface QuotaLease {
  granted: number;
  /** Counted from the moment the request was sent. */
  validForMs: number;
  limit: number;
  used: number;
  /** Units of other gateways, which auth has asked to return them. */
  recallable: number;
  retryAfterMs: number;
  resetsAt: Date | undefined;
  /** An earlier attempt was not answered and may still be granted. */
  mayBeLent?: boolean;
}

export type LeaseQuota = (request: QuotaLeaseRequest) => Promise<QuotaLease>;

export interface QuotasOptions {
  leaseQuota: LeaseQuota;
  log: Log;
  /** Milliseconds of a clock that never jumps. */
  monotonicMs: () => number;
}

export interface Quotas {
  /**
   * Runs work that counts against the plan. The unit is taken first and returned when the work
   * changed nothing: a refusal or a replayed answer. An unknown outcome keeps its unit; a
   * retry that gets a replay returns its own.
   */
  count<R extends { replayed?: boolean }>(
    orgId: string,
    quota: QuotaName,
    work: () => Promise<R>,
  ): Promise<R>;
  /** Stops using the leases of a quota, and reports them as soon as their work is done. */
  recall(orgId: string, quota: QuotaName): void;
  /** Forgets refusals after a change of the organisation, which may have a larger plan. */
  reconsider(orgId: string): void;
  /** Reports every lease. */
  close(): Promise<void>;
}

interface Lease {
  leaseId: string;
  granted: number;
  taken: number;
  /** Taken by work that has not ended. */
  running: number;
  validUntilMs: number;
  /** True when the next lease was requested while this one had units left. */
  askedAhead: boolean;
}

/** State of one organisation's quota in this process. */
interface Counter {
  readonly orgId: string;
  readonly quota: QuotaName;
  /** Leases in the order of their use. The second one was requested ahead. */
  leases: Lease[];
  /** Ended leases by id, reported when no work runs on them. */
  ending: Map<string, Lease>;
  leasing: Promise<void> | undefined;
  waiting: number;
  /**
   * Units taken since the last lease was requested. The size of the next wish depends on these
   * three.
   */
  takenSinceAsk: number;
  askedAtMs: number;
  lastWanted: number;
  /** The last answer, if it granted less than was wanted: the quota is almost used up. */
  short: QuotaLease | undefined;
  /** Failed lease calls since the last answer. */
  failuresInARow: number;
  /**
   * Set while the quota is used up, or after repeated failures. No call is made before `untilMs`.
   */
  refusing: { refusal: DomainError; untilMs: number } | undefined;
}

const MAX_WAITING = 1_000;
const MAX_ROUNDS = 20;
const MAX_UNITS_PER_LEASE = 1_000;
const MAX_ACCOUNTS_PER_CALL = 100;
const SWEEP_MS = 1_000;
const USED_UP_MS = 1_000;
/** A single failure may be the connection's. After two, calls pause for REST_MS. */
const FAILURES_BEFORE_REST = 2;
const REST_MS = 250;
/**
 * Limit of lost leases per counter. auth counts forgotten ones as spent, so the plan is never
 * exceeded.
 */
const MAX_LOST = 1_000;
/** A lease should last a tenth of its lifetime, so that a crash costs the plan few units. */
const LEASE_TARGET_MS = 1_000;
/**
 * Smaller leases are never requested ahead: rare requests can wait, and leave the units to others.
 */
const MIN_EARLY_LEASE = 16;

/**
 * Exact quotas: auth keeps them, and each gateway spends them in leases. A unit is counted once
 * despite failures, and no plan is ever exceeded. The next lease is requested when half of the
 * current one is used, so that requests at a steady rate never wait.
 */
export function createQuotas({ leaseQuota, log, monotonicMs }: QuotasOptions): Quotas {
  const counters = new Map<string, Counter>();
  const sweeper = setInterval(() => void sweep(), SWEEP_MS).unref();
  let sweeping = false;

  async function take(counter: Counter): Promise<Lease> {
    let excused = false;
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const lease = usable(counter);
      if (lease) {
        lease.taken += 1;
        lease.running += 1;
        counter.takenSinceAsk += 1;
        askAhead(counter, lease);
        return lease;
      }
      if (counter.refusing && monotonicMs() < counter.refusing.untilMs) throw counter.refusing.refusal;
      if (counter.waiting >= MAX_WAITING) break;
      counter.waiting += 1;
      const joins = counter.leasing !== undefined;
      try {
        await renew(counter);
      } catch (error) {
        // The joined call failed for an earlier request. Retry once.
        if (!joins || excused) throw error;
        excused = true;
      } finally {
        counter.waiting -= 1;
      }
    }
    if (counter.short) throw planExceeded(counter.quota, counter.short);
    throw new DomainError("SYS_002", { retryAfterMs: 1000 });
  }

  /** Returns the lease to use, and ends leases that are used up or expired. */
  function usable({ leases, ending }: Counter): Lease | undefined {
    const now = monotonicMs();
    while (leases[0] && (leases[0].taken >= leases[0].granted || leases[0].validUntilMs <= now)) {
      const lease = leases.shift()!;
      ending.set(lease.leaseId, lease);
    }
    return leases[0];
  }

  function askAhead(counter: Counter, lease: Lease): void {
    if (lease.askedAhead || lease.granted < MIN_EARLY_LEASE || 2 * lease.taken < lease.granted) return;
    lease.askedAhead = true;
    if (counter.leases.length > 1) return;
    // This failure is harmless: a request without a unit asks again and waits.
    renew(counter).catch(() => undefined);
  }

  /** Requests another lease. Concurrent requests share the call. */
  function renew(counter: Counter): Promise<void> {
    return (counter.leasing ??= ask(counter).finally(() => (counter.leasing = undefined)));
  }

  async function ask(counter: Counter): Promise<void> {
    const accounts = settled(counter);
    const leaseId = randomUUID();
    const sentAtMs = monotonicMs();
    const wanted = nextLeaseSize(counter, sentAtMs);
    const { orgId, quota } = counter;
    // If the failed call may have been executed, a report with 0 spent units returns the lease.
    const giveBack = (): void => {
      if (counter.ending.size < MAX_LOST) counter.ending.set(leaseId, newLease(leaseId, 0, sentAtMs));
    };
    const answer = await leaseQuota({ orgId, quota, wanted, leaseId, accounts }).catch((error: unknown) => {
      if (!provesNoEffect(error)) giveBack();
      throw isOutage(error) ? failed(counter, error) : error;
    });
    counter.failuresInARow = 0;
    counter.short = answer.granted < wanted ? answer : undefined;
    accounted(counter, accounts);
    if (answer.granted === 0 && answer.mayBeLent) giveBack();
    if (answer.granted > 0) {
      counter.leases.push(newLease(leaseId, answer.granted, sentAtMs + answer.validForMs));
    } else if (answer.recallable > 0) {
      await sleep(answer.retryAfterMs);
    } else {
      counter.refusing = { refusal: planExceeded(quota, answer), untilMs: monotonicMs() + USED_UP_MS };
    }
  }

  function failed(counter: Counter, cause: unknown): DomainError {
    const refusal = new DomainError("SYS_002", { retryAfterMs: 1000 }, { cause });
    counter.failuresInARow += 1;
    counter.short = undefined;
    if (counter.failuresInARow >= FAILURES_BEFORE_REST) {
      counter.refusing = { refusal, untilMs: monotonicMs() + REST_MS };
    }
    return refusal;
  }

  /**
   * Wants as many units as requests wait, plus the projected use. At most twice the last
   * request, so that one burst is not taken for a rate.
   */
  function nextLeaseSize(counter: Counter, now: number): number {
    const elapsedMs = Math.max(1, now - counter.askedAtMs);
    const projected = Math.ceil((counter.takenSinceAsk * LEASE_TARGET_MS) / elapsedMs);
    const wanted = counter.waiting + Math.min(projected, 2 * counter.lastWanted);
    counter.lastWanted = Math.max(1, Math.min(wanted, MAX_UNITS_PER_LEASE));
    counter.takenSinceAsk = 0;
    counter.askedAtMs = now;
    return counter.lastWanted;
  }

  function end(counter: Counter): void {
    for (const lease of counter.leases.splice(0)) counter.ending.set(lease.leaseId, lease);
  }

  /** Reports ended leases, because no later request may do so. */
  async function sweep(): Promise<void> {
    if (sweeping) return;
    sweeping = true;
    for (const [key, counter] of counters) {
      usable(counter);
      await reportUsage(counter);
      // Checked after the report, because a request may have come meanwhile.
      if (isIdle(counter)) counters.delete(key);
    }
    sweeping = false;
  }

  /** Returns true when one call could not hold all reports. */
  async function reportUsage(counter: Counter): Promise<boolean> {
    const accounts = settled(counter);
    if (accounts.length === 0) return false;
    try {
      await leaseQuota({ orgId: counter.orgId, quota: counter.quota, wanted: 0, leaseId: "", accounts });
      accounted(counter, accounts);
      return accounts.length === MAX_ACCOUNTS_PER_CALL;
    } catch (error) {
      // The report is repeated later. Until then its units count as spent, so the plan is never
      // exceeded.
      log.debug({ err: error }, "quota account not given");
      return false;
    }
  }

  function counterOf(orgId: string, quota: QuotaName): Counter {
    const key = `${orgId} ${quota}`;
    let counter = counters.get(key);
    if (!counter) {
      counter = {
        orgId,
        quota,
        leases: [],
        ending: new Map(),
        leasing: undefined,
        waiting: 0,
        takenSinceAsk: 0,
        askedAtMs: 0,
        lastWanted: 1,
        short: undefined,
        failuresInARow: 0,
        refusing: undefined,
      };
      counters.set(key, counter);
    }
    return counter;
  }

  return {
    async count(orgId, quota, work) {
      const counter = counterOf(orgId, quota);
      const lease = await take(counter);
      let didNothing = false;
      try {
        const reply = await work();
        didNothing = reply.replayed === true;
        return reply;
      } catch (error) {
        didNothing = provesNoEffect(error);
        throw error;
      } finally {
        lease.running -= 1;
        if (didNothing) lease.taken -= 1;
      }
    },
    recall(orgId, quota) {
      const counter = counters.get(`${orgId} ${quota}`);
      if (!counter) return;
      end(counter);
      void reportUsage(counter);
    },
    reconsider(orgId) {
      for (const [, counter] of counters) if (counter.orgId === orgId) counter.refusing = undefined;
    },
    async close() {
      clearInterval(sweeper);
      for (const [, counter] of counters) {
        // A lease that arrives now must be reported too, or it would count as spent.
        await counter.leasing?.catch(() => undefined);
        end(counter);
        while (await reportUsage(counter));
      }
    },
  };
}

/**
 * SYS_003 and SYS_001 leave the outcome open. Every other refusal proves that nothing was executed.
 */
function provesNoEffect(error: unknown): boolean {
  if (!(error instanceof DomainError)) return false;
  return error.code === "SYS_002" || error.code === "SYS_004" || errorTable[error.code].http < 500;
}

function isIdle({ leases, ending, leasing, waiting }: Counter): boolean {
  return leases.length === 0 && ending.size === 0 && !leasing && waiting === 0;
}

function newLease(leaseId: string, granted: number, validUntilMs: number): Lease {
  return { leaseId, granted, taken: 0, running: 0, validUntilMs, askedAhead: false };
}

/** Stops at the size of one call, because an outage may leave many more. */
function settled(counter: Counter): QuotaAccount[] {
  const accounts: QuotaAccount[] = [];
  for (const { leaseId, taken, running } of counter.ending.values()) {
    if (running > 0) continue;
    if (accounts.push({ leaseId, spent: taken }) === MAX_ACCOUNTS_PER_CALL) break;
  }
  return accounts;
}

function accounted(counter: Counter, accounts: QuotaAccount[]): void {
  for (const { leaseId } of accounts) counter.ending.delete(leaseId);
}

function planExceeded(quota: QuotaName, { limit, used, resetsAt }: QuotaLease): DomainError {
  return new DomainError("WAUTH_004", { quota, limit, used, resetsAt: resetsAt?.toISOString() ?? null });
}
