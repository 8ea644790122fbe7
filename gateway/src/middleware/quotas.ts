import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { DomainError, errorTable, isOutage } from "@wonrail/kit/contract/errors";
import { type Log } from "@wonrail/kit/log";

/** What a plan counts. */
export type QuotaName = "WALLETS" | "MONEY_OPERATIONS" | "RECORDED_TRANSACTIONS";

export interface QuotaWish {
  orgId: string;
  quota: QuotaName;
  wanted: number;
  leaseId: string;
  accounts: QuotaAccount[];
}

/** The end of one lease: what was used of it. */
export interface QuotaAccount {
  leaseId: string;
  spent: number;
}

/** auth's answer to a wish for units. */
export interface QuotaLease {
  granted: number;
  /** Counted from the moment the wish was sent. */
  validForMs: number;
  limit: number;
  used: number;
  /** Lent to other gateways, which have been asked to give account. */
  recallable: number;
  retryAfterMs: number;
  resetsAt: Date | undefined;
  /** An earlier try was not answered and may still be served: of nothing granted something may become, when units are free again. */
  mayBeLent?: boolean;
}

export type LeaseQuota = (wish: QuotaWish) => Promise<QuotaLease>;

export interface QuotasOptions {
  leaseQuota: LeaseQuota;
  log: Log;
  /** Milliseconds of a clock that never jumps. */
  monotonicMs: () => number;
}

export interface Quotas {
  /**
   * Does work that counts against the plan. The unit is taken before and given back when nothing new was done: a refusal, or the
   * stored answer of an earlier request. An outcome that nobody knows keeps its unit; the retry that finds out gives back its own.
   */
  count<R extends { replayed?: boolean }>(
    orgId: string,
    quota: QuotaName,
    work: () => Promise<R>,
  ): Promise<R>;
  /** Stops using the leases of a quota, and gives account of them as soon as their work is done. */
  recall(orgId: string, quota: QuotaName): void;
  /** The organisation changed, perhaps its plan: what was used up may not be any more. */
  reconsider(orgId: string): void;
  /** Gives account of every lease. */
  close(): Promise<void>;
}

interface Lease {
  leaseId: string;
  granted: number;
  taken: number;
  /** Taken by work that has not ended. */
  running: number;
  validUntilMs: number;
  /** The next one was asked for while this one had units left. */
  askedAhead: boolean;
}

/** One organisation's use of one quota in this process. */
interface Counter {
  readonly orgId: string;
  readonly quota: QuotaName;
  /** Taken from in this order: the one in use, and the next, that was asked for ahead. */
  leases: Lease[];
  /** No longer taken from, by id; accounted for when nothing runs on them. */
  ending: Map<string, Lease>;
  leasing: Promise<void> | undefined;
  waiting: number;
  /** Units taken since the last lease was asked for, which was at this time and for so many: what the next one goes by. */
  takenSinceAsk: number;
  askedAtMs: number;
  lastWanted: number;
  /** The last answer, when it granted less than was wanted: the plan is nearly used up. */
  short: QuotaLease | undefined;
  /** Of asking, since the last answer. */
  failuresInARow: number;
  /** auth said that the plan is used up, or has failed again and again; until then nobody asks. */
  refusing: { refusal: DomainError; untilMs: number } | undefined;
}

const MAX_WAITING = 1_000;
const MAX_ROUNDS = 20;
const MAX_UNITS_PER_LEASE = 1_000;
const MAX_ACCOUNTS_PER_CALL = 100;
const SWEEP_MS = 1_000;
const USED_UP_MS = 1_000;
/** One failure may be a connection's; of more than that each would only cost the next request its time, and auth a call. */
const FAILURES_BEFORE_REST = 2;
const REST_MS = 250;
/** Leases of one counter whose answers were lost. Of more none is remembered: auth counts them as spent, and no plan is exceeded. */
const MAX_LOST = 1_000;
/** How long a lease should last: a tenth of its life, so that a process that dies takes little of the plan with it. */
const LEASE_TARGET_MS = 1_000;
/** Of smaller ones none is asked for ahead: those who come so seldom can wait, and leave the units to others. */
const LEAST_TO_ASK_AHEAD = 16;

/**
 * Plans' quotas, kept exactly by auth and spent here in leases: a unit is counted once, whatever fails, and no plan is ever exceeded. The next lease is
 * asked for when half of one is used, so that none waits at a steady rate, nor when auth is away for a moment.
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
        // A call that was under way already failed for somebody who came earlier. Once.
        if (!joins || excused) throw error;
        excused = true;
      } finally {
        counter.waiting -= 1;
      }
    }
    if (counter.short) throw planExceeded(counter.quota, counter.short);
    throw new DomainError("SYS_002", { retryAfterMs: 1000 });
  }

  /** Ends those that are used up or over. */
  function usable({ leases, ending }: Counter): Lease | undefined {
    const now = monotonicMs();
    while (leases[0] && (leases[0].taken >= leases[0].granted || leases[0].validUntilMs <= now)) {
      const lease = leases.shift()!;
      ending.set(lease.leaseId, lease);
    }
    return leases[0];
  }

  function askAhead(counter: Counter, lease: Lease): void {
    if (lease.askedAhead || lease.granted < LEAST_TO_ASK_AHEAD || 2 * lease.taken < lease.granted) return;
    lease.askedAhead = true;
    if (counter.leases.length > 1) return;
    // A failure here is of no consequence: whoever finds no unit left asks again, and waits for the answer.
    renew(counter).catch(() => undefined);
  }

  /** Asks for another lease; who comes meanwhile waits for the same one. */
  function renew(counter: Counter): Promise<void> {
    return (counter.leasing ??= ask(counter).finally(() => (counter.leasing = undefined)));
  }

  async function ask(counter: Counter): Promise<void> {
    const accounts = settled(counter);
    const leaseId = randomUUID();
    const sentAtMs = monotonicMs();
    const wanted = nextWish(counter, sentAtMs);
    const { orgId, quota } = counter;
    // Unless that is ruled out, the units may be on loan: this account gives them back.
    const giveBack = (): void => {
      if (counter.ending.size < MAX_LOST) counter.ending.set(leaseId, newLease(leaseId, 0, sentAtMs));
    };
    const answer = await leaseQuota({ orgId, quota, wanted, leaseId, accounts }).catch((error: unknown) => {
      if (!changesNothing(error)) giveBack();
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

  /** As many as wait, and what the use of late will need; at most twice the last wish, so that one moment's rush is not taken for a rate. */
  function nextWish(counter: Counter, now: number): number {
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

  /** Gives account of what has ended by itself; otherwise units that nobody asks for again would stay on loan. */
  async function sweep(): Promise<void> {
    if (sweeping) return;
    sweeping = true;
    for (const [key, counter] of counters) {
      usable(counter);
      await giveAccount(counter);
      // Only now: who came meanwhile may have been lent more.
      if (isIdle(counter)) counters.delete(key);
    }
    sweeping = false;
  }

  /** True when there may be more than one call takes. */
  async function giveAccount(counter: Counter): Promise<boolean> {
    const accounts = settled(counter);
    if (accounts.length === 0) return false;
    try {
      await leaseQuota({ orgId: counter.orgId, quota: counter.quota, wanted: 0, leaseId: "", accounts });
      accounted(counter, accounts);
      return accounts.length === MAX_ACCOUNTS_PER_CALL;
    } catch (error) {
      // The account stays and is given again; until then its units count as spent, so no plan is exceeded.
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
        didNothing = changesNothing(error);
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
      void giveAccount(counter);
    },
    reconsider(orgId) {
      for (const [, counter] of counters) if (counter.orgId === orgId) counter.refusing = undefined;
    },
    async close() {
      clearInterval(sweeper);
      for (const [, counter] of counters) {
        // What is being lent now would count as spent, since nobody would give account of it.
        await counter.leasing?.catch(() => undefined);
        end(counter);
        while (await giveAccount(counter));
      }
    },
  };
}

/** SYS_003 says that the outcome is unknown and SYS_001 says nothing at all; every other refusal is a promise that nothing was done. */
function changesNothing(error: unknown): boolean {
  if (!(error instanceof DomainError)) return false;
  return error.code === "SYS_002" || error.code === "SYS_004" || errorTable[error.code].http < 500;
}

function isIdle({ leases, ending, leasing, waiting }: Counter): boolean {
  return leases.length === 0 && ending.size === 0 && !leasing && waiting === 0;
}

function newLease(leaseId: string, granted: number, validUntilMs: number): Lease {
  return { leaseId, granted, taken: 0, running: 0, validUntilMs, askedAhead: false };
}

/** Looks no further than at what one call takes and what still runs: in an outage there may be many more. */
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
