import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { parseApiKey, type PresentedApiKey } from "@wonrail/kit/contract/apiKey";
import { DomainError, isOutage } from "@wonrail/kit/contract/errors";
import { Counter, Gauge, type Registry } from "@wonrail/kit/metrics";
import { AddressLimitError, type AddressLimits } from "./addressLimits";
import { createNewestFirst } from "./newestFirst";

/** Who is calling. */
export interface Principal {
  orgId: string;
  orgCode: string;
  keyId: string;
  keyUsableUntil: Date;
  subscriptionEndsAt: Date;
  ratePerSecond: number;
  rateBurst: number;
}

/** What a key may be used for, and the refusal for anything beyond. */
export interface Resolution {
  access: "none" | "refresh" | "session" | "full";
  refusal: DomainError | undefined;
  principal: Principal | undefined;
}

/** auth's answer, which may be kept for `cacheableMs` from the moment it was asked for. */
export interface ResolvedKey extends Resolution {
  cacheableMs: number;
}

export type ResolveKey = (key: PresentedApiKey, clientAddress: string) => Promise<ResolvedKey>;

export interface PrincipalsOptions {
  resolveKey: ResolveKey;
  /** How many keys that turn out to be wrong an address may present before it has to queue. */
  guesses: AddressLimits;
  registry: Registry;
  /** How long a key that was good stays good while auth cannot be asked at all; 0: not a moment. */
  outageGraceMs: number;
  /** Milliseconds of a clock that never jumps. */
  monotonicMs: () => number;
  nowMs: () => number;
}

export interface Principals {
  /** An answer at once for a key that was seen lately; otherwise auth is asked, once however many requests wait for it. */
  lookUp(apiKey: string, clientAddress: string): Resolution | Promise<Resolution>;
  forgetKey(keyId: string): void;
  forgetOrganisation(orgId: string): void;
  /** Nothing that is cached counts as fresh any more. */
  doubtAll(): void;
}

interface Entry {
  resolution: Resolution;
  sentAtMs: number;
  freshUntilMs: number;
  /** When the next request has auth asked again. */
  askAgainAtMs: number;
}

const MAX_PRINCIPALS = 10_000;
const MAX_REFUSALS = 10_000;
/** Of keys that are known and of others apart: a flood of guesses leaves room for the known keys. */
const MAX_LOOK_UPS = { known: 1_000, stranger: 500 };
/** For addresses that used up their guesses. A good key that is new to this process waits here too. */
const SUSPECTS = { maxRunning: 8, maxWaiting: 200, maxWaitMs: 1_000 };
/** Whatever an answer claims, the promise about revoked keys is ours to keep. */
const MAX_LIFE_MS = 1_000;
const MAX_KEY_CHARACTERS = 128;
/** While auth does not answer, how often one key's look-up is tried again. */
const RETRY_MS = 250;
/** While auth does not answer, how often one request has to wait until that is certain. */
const GRACE_STEP_MS = 1_000;

const INVALID_KEY: Resolution = {
  access: "none",
  refusal: new DomainError("WAUTH_001"),
  principal: undefined,
};

/**
 * The gateway's memory of keys. A key in use is asked about again at half the life of its last answer, in the background, so a hot
 * key costs its requests no call. Nothing is served past its life, which is the promise that a revoked key is refused within a second;
 * revocations that arrive by the stream of changes only make it sooner. ADR 0008 has the one exception: auth is down.
 */
export function createPrincipals(options: PrincipalsOptions): Principals {
  const { resolveKey, guesses, registry, outageGraceMs, monotonicMs, nowMs } = options;
  const known = new LRUCache<string, Entry>({ max: MAX_PRINCIPALS });
  // Apart, so that a flood of wrong keys cannot push out the right ones.
  const refused = new LRUCache<string, Entry>({ max: MAX_REFUSALS });
  const underWay = new Map<string, { answer: Promise<Resolution>; changesBefore: number }>();
  const running = { known: 0, stranger: 0 };
  const asSuspect = createNewestFirst(SUSPECTS);
  const lookUps = measure(registry, () => known.size);
  /** Grows with each change that is pushed. An answer that was asked for before one of them may be older than it. */
  let changes = 0;

  function lookUp(apiKey: string, clientAddress: string): Resolution | Promise<Resolution> {
    if (apiKey.length > MAX_KEY_CHARACTERS) return INVALID_KEY;
    const fingerprint = fingerprintOf(apiKey);
    const entry = known.get(fingerprint) ?? refused.get(fingerprint);
    const now = monotonicMs();
    if (entry && now < entry.freshUntilMs) {
      if (now >= entry.askAgainAtMs && !underWay.has(fingerprint)) {
        entry.askAgainAtMs = now + RETRY_MS;
        // A failure here is of no consequence: the entry lives on until its time, and then a request waits for the answer.
        askAboutKnown(fingerprint, apiKey, clientAddress).catch(() => undefined);
      }
      return entry.resolution;
    }
    const waiting = joinable(fingerprint);
    if (!entry?.resolution.principal) {
      if (waiting) return waiting;
      const presented = parseApiKey(apiKey);
      return presented ? askAboutStranger(fingerprint, presented, clientAddress) : INVALID_KEY;
    }
    return orGrace(waiting ?? askAboutKnown(fingerprint, apiKey, clientAddress), fingerprint, entry);
  }

  /** Not one that was asked for before a change: whoever comes after a revocation would be let in by what was true before it. */
  function joinable(fingerprint: string): Promise<Resolution> | undefined {
    const asked = underWay.get(fingerprint);
    return asked?.changesBefore === changes ? asked.answer : undefined;
  }

  function askAboutKnown(fingerprint: string, apiKey: string, address: string): Promise<Resolution> {
    return ask("known", fingerprint, parseApiKey(apiKey)!, address);
  }

  /** The guess is counted before the look-up, so that many at once cannot pass together. */
  async function askAboutStranger(
    fingerprint: string,
    key: PresentedApiKey,
    address: string,
  ): Promise<Resolution> {
    const look = () => joinable(fingerprint) ?? ask("stranger", fingerprint, key, address);
    const refusal = limitOf(address);
    if (refusal) return asSuspect(look, refusal);
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

  async function orGrace(
    answer: Promise<Resolution>,
    fingerprint: string,
    entry: Entry,
  ): Promise<Resolution> {
    try {
      return await answer;
    } catch (error) {
      // A refusal of this process does not say that auth is away.
      if (!isOutage(error) || error instanceof TooManyLookUpsError) throw error;
      const now = monotonicMs();
      if (known.get(fingerprint) !== entry || now - entry.sentAtMs > outageGraceMs) throw error;
      lookUps.inc({ outcome: "grace" });
      entry.freshUntilMs = now + GRACE_STEP_MS;
      entry.askAgainAtMs = now + RETRY_MS;
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
      // A refusal is worth nothing more than its life; only a key in use is kept warm.
      const askAgainAtMs = resolution.principal ? (sentAtMs + freshUntilMs) / 2 : freshUntilMs;
      if (changes === changesBefore) store(fingerprint, { resolution, sentAtMs, freshUntilMs, askAgainAtMs });
      return resolution;
    } catch (error) {
      lookUps.inc({ outcome: "failed" });
      // Here, so that everybody who waits for this answer hears the same: to ask is to change nothing, whatever became of it.
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
        // Remembered as a key that exists, so that its next look-up is no guess; but nothing it says may be used again.
        if (entry.resolution.principal?.orgId === orgId) entry.freshUntilMs = entry.sentAtMs = -Infinity;
      }
    },
    doubtAll() {
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

/** What an answer has become by itself since it was given: keys and subscriptions end without anybody saying so. */
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

/** What a key is remembered by. The key itself is never kept: a dump of this process's memory must not be a list of keys. */
function fingerprintOf(apiKey: string): string {
  return hash("sha256", apiKey, "base64");
}

function measure(registry: Registry, size: () => number) {
  new Gauge({
    name: "gateway_known_keys",
    help: "API keys that this process remembers",
    registers: [registry],
    collect() {
      this.set(size());
    },
  });
  return new Counter({
    name: "gateway_key_lookups_total",
    help: "Keys that auth was asked about, by what came of it; grace: auth was unreachable and a key lately known good went on",
    labelNames: ["outcome"],
    registers: [registry],
  });
}
