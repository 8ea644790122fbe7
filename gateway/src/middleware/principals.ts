import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { parseApiKey, type PresentedApiKey } from "@wonrail/kit/contract/apiKey";
import { DomainError, isOutage } from "@wonrail/kit/contract/errors";
import { Counter, Gauge, type Registry } from "@wonrail/kit/metrics";
import { AddressLimitError, type AddressLimits } from "@wonrail/kit/addressLimits";
import { createNewestFirstQueue } from "./newestFirstQueue";
import { type Principal } from "./principal";

/** Access that a key has, and the refusal for anything beyond. */
export interface Resolution {
  access: "none" | "refresh" | "session" | "full";
  refusal: DomainError | undefined;
  principal: Principal | undefined;
}

/** auth's answer, which may be cached for `cacheableMs` after the request for it. */
export interface ResolvedKey extends Resolution {
  cacheableMs: number;
}

export type ResolveKey = (key: PresentedApiKey, clientAddress: string) => Promise<ResolvedKey>;

export interface PrincipalsOptions {
  resolveKey: ResolveKey;
  /** Limit of wrong keys per address; beyond it look-ups wait in a queue. */
  guesses: AddressLimits;
  registry: Registry;
  /** How long a cached valid key works while auth is away. 0: not at all. */
  outageGraceMs: number;
  /** Milliseconds of a clock that never jumps. */
  monotonicMs: () => number;
  nowMs: () => number;
}

export interface Principals {
  /** Answers from memory for a cached key; otherwise asks auth, once for all waiting requests. */
  lookUp(apiKey: string, clientAddress: string): Resolution | Promise<Resolution>;
  forgetKey(keyId: string): void;
  forgetOrganisation(orgId: string): void;
  /** Marks every cached answer as stale. */
  markAllStale(): void;
}

interface Entry {
  resolution: Resolution;
  sentAtMs: number;
  freshUntilMs: number;
  /** From this time on a request triggers a new look-up. */
  refreshAtMs: number;
}

const MAX_PRINCIPALS = 10_000;
const MAX_REFUSALS = 10_000;
/** Separate limits, so that a flood of guesses leaves room for known keys. */
const MAX_LOOK_UPS = { known: 1_000, stranger: 500 };
/**
 * For addresses that used up their guesses. A valid key that is new to this process waits here too.
 */
const SUSPECTS = { maxRunning: 8, maxWaiting: 200, maxWaitMs: 1_000 };
/**
 * Cap on auth's cacheable time, because the gateway promises to refuse a revoked key within a
 * second.
 */
const MAX_LIFE_MS = 1_000;
const MAX_KEY_CHARACTERS = 128;
/** Pause between look-ups of one key while auth does not answer. */
const RETRY_MS = 250;
/** While auth does not answer, one request per step waits for it. */
const GRACE_STEP_MS = 1_000;

const INVALID_KEY: Resolution = {
  access: "none",
  refusal: new DomainError("WAUTH_001"),
  principal: undefined,
};

/**
 * The gateway's cache of keys. A used key is looked up again at half of its lifetime, in the
 * background, so that its requests never wait. No entry is served past its lifetime, so that a
 * revoked key is refused within a second. Pushed revocations only make that sooner. ADR 0008
 * describes the exception while auth is down.
 */
export function createPrincipals(options: PrincipalsOptions): Principals {
  const { resolveKey, guesses, registry, outageGraceMs, monotonicMs, nowMs } = options;
  const known = new LRUCache<string, Entry>({ max: MAX_PRINCIPALS });
  // Apart, so that a flood of wrong keys cannot push out the right ones.
  const refused = new LRUCache<string, Entry>({ max: MAX_REFUSALS });
  const underWay = new Map<string, { answer: Promise<Resolution>; changesBefore: number }>();
  const running = { known: 0, stranger: 0 };
  const queueAsSuspect = createNewestFirstQueue(SUSPECTS);
  const lookUps = measure(registry, () => known.size);
  /** Number of pushed changes. An answer that was requested before a change may be outdated. */
  let changes = 0;

  function lookUp(apiKey: string, clientAddress: string): Resolution | Promise<Resolution> {
    if (apiKey.length > MAX_KEY_CHARACTERS) return INVALID_KEY;
    const fingerprint = fingerprintOf(apiKey);
    const entry = known.get(fingerprint) ?? refused.get(fingerprint);
    const now = monotonicMs();
    if (entry && now < entry.freshUntilMs) {
      if (now >= entry.refreshAtMs && !underWay.has(fingerprint)) {
        entry.refreshAtMs = now + RETRY_MS;
        // This failure is harmless: the entry lives on, and later a request waits for the answer.
        lookUpKnown(fingerprint, apiKey, clientAddress).catch(() => undefined);
      }
      return entry.resolution;
    }
    const waiting = findPendingLookUp(fingerprint);
    if (!entry?.resolution.principal) {
      if (waiting) return waiting;
      const presented = parseApiKey(apiKey);
      return presented ? lookUpUnknown(fingerprint, presented, clientAddress) : INVALID_KEY;
    }
    return withOutageGrace(waiting ?? lookUpKnown(fingerprint, apiKey, clientAddress), fingerprint, entry);
  }

  /** Ignores look-ups from before a change: they could still admit a revoked key. */
  function findPendingLookUp(fingerprint: string): Promise<Resolution> | undefined {
    const asked = underWay.get(fingerprint);
    return asked?.changesBefore === changes ? asked.answer : undefined;
  }

  function lookUpKnown(fingerprint: string, apiKey: string, address: string): Promise<Resolution> {
    return ask("known", fingerprint, parseApiKey(apiKey)!, address);
  }

  /** Counts the guess before the look-up, so that simultaneous guesses cannot pass together. */
  async function lookUpUnknown(
    fingerprint: string,
    key: PresentedApiKey,
    address: string,
  ): Promise<Resolution> {
    const look = () => findPendingLookUp(fingerprint) ?? ask("stranger", fingerprint, key, address);
    const refusal = limitOf(address);
    if (refusal) return queueAsSuspect(look, refusal);
    guesses.take(address);
    const resolution = await look();
    if (resolution.access !== "none") guesses.giveBack(address);
    return resolution;
  }

  function limitOf(address: string): AddressLimitError | undefined {
    try {
      guesses.check(address);
      return undefined;
    } catch (error) {
      if (error instanceof AddressLimitError) return error;
      throw error;
    }
  }

  async function withOutageGrace(
    answer: Promise<Resolution>,
    fingerprint: string,
    entry: Entry,
  ): Promise<Resolution> {
    try {
      return await answer;
    } catch (error) {
      // A refusal of this process does not prove that auth is away.
      if (!isOutage(error) || error instanceof TooManyLookUpsError) throw error;
      const now = monotonicMs();
      if (known.get(fingerprint) !== entry || now - entry.sentAtMs > outageGraceMs) throw error;
      lookUps.inc({ outcome: "grace" });
      entry.freshUntilMs = now + GRACE_STEP_MS;
      entry.refreshAtMs = now + RETRY_MS;
      entry.resolution = agedTo(nowMs(), entry.resolution);
      return entry.resolution;
    }
  }

  async function ask(
    kind: keyof typeof running,
    fingerprint: string,
    presented: PresentedApiKey,
    clientAddress: string,
  ): Promise<Resolution> {
    if (running[kind] >= MAX_LOOK_UPS[kind]) throw new TooManyLookUpsError();
    running[kind] += 1;
    const answer = askAuth(fingerprint, presented, clientAddress).finally(() => {
      running[kind] -= 1;
      if (underWay.get(fingerprint) === asked) underWay.delete(fingerprint);
    });
    const asked = { answer, changesBefore: changes };
    underWay.set(fingerprint, asked);
    return answer;
  }

  async function askAuth(
    fingerprint: string,
    presented: PresentedApiKey,
    clientAddress: string,
  ): Promise<Resolution> {
    const sentAtMs = monotonicMs();
    const changesBefore = changes;
    try {
      const { cacheableMs, ...resolution } = await resolveKey(presented, clientAddress);
      lookUps.inc({ outcome: resolution.access });
      const freshUntilMs = sentAtMs + Math.min(cacheableMs, MAX_LIFE_MS);
      // Refusals are not refreshed in the background; only keys in use are.
      const refreshAtMs = resolution.principal ? (sentAtMs + freshUntilMs) / 2 : freshUntilMs;
      if (changes === changesBefore) store(fingerprint, { resolution, sentAtMs, freshUntilMs, refreshAtMs });
      return resolution;
    } catch (error) {
      lookUps.inc({ outcome: "failed" });
      // A look-up changes nothing, so every waiting request gets a retryable SYS_002.
      throw isOutage(error) ? new DomainError("SYS_002", { retryAfterMs: 1000 }, { cause: error }) : error;
    }
  }

  function store(fingerprint: string, entry: Entry): void {
    const [home, other] = entry.resolution.principal ? [known, refused] : [refused, known];
    other.delete(fingerprint);
    home.set(fingerprint, entry);
  }

  return {
    lookUp,
    forgetKey(keyId) {
      changes += 1;
      for (const [fingerprint, { resolution }] of known) {
        if (resolution.principal?.keyId === keyId) known.delete(fingerprint);
      }
    },
    forgetOrganisation(orgId) {
      changes += 1;
      for (const [, entry] of known) {
        // The entry stays, so that the next look-up counts as one of a known key. Its content is
        // stale.
        if (entry.resolution.principal?.orgId === orgId) entry.freshUntilMs = entry.sentAtMs = -Infinity;
      }
    },
    markAllStale() {
      changes += 1;
      for (const [, entry] of known) entry.freshUntilMs = 0;
    },
  };
}

class TooManyLookUpsError extends DomainError {
  constructor() {
    super("SYS_002", { retryAfterMs: 1000 });
  }
}

/** Applies expiries that passed since the look-up. */
function agedTo(nowMs: number, resolution: Resolution): Resolution {
  const { principal, access } = resolution;
  if (!principal) return resolution;
  if (nowMs >= principal.keyUsableUntil.getTime()) {
    return { access: "refresh", refusal: new DomainError("WAUTH_002"), principal };
  }
  if (access === "full" && nowMs >= principal.subscriptionEndsAt.getTime()) {
    return { access: "session", refusal: new DomainError("WAUTH_003"), principal };
  }
  return resolution;
}

/** The cache stores hashes, so that a memory dump reveals no key. */
function fingerprintOf(apiKey: string): string {
  return hash("sha256", apiKey, "base64");
}

function measure(registry: Registry, size: () => number) {
  new Gauge({
    name: "gateway_known_keys",
    help: "API keys in the cache of this process",
    registers: [registry],
    collect() {
      this.set(size());
    },
  });
  return new Counter({
    name: "gateway_key_lookups_total",
    help: "Look-ups of API keys at auth, by result; grace: auth was unreachable, and a key that was valid before was accepted",
    labelNames: ["outcome"],
    registers: [registry],
  });
}
