import { type ErrorCode } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { type KeyGrant } from "./grants";
import { isSubscriptionActive, type OrganisationTerms } from "./organisations";

/** An API key as stored: enough to recognise the key, not to use it. */
export interface ApiKey extends KeyGrant {
  readonly orgId: Id<"org">;
  readonly keyId: Id<"key">;
  /** The first key of the lineage, which an operator issued. */
  readonly lineageId: Id<"key">;
  readonly predecessorId: Id<"key"> | null;
  readonly prefix: string;
  readonly hash: Buffer;
  readonly salt: Buffer | null;
  readonly version: bigint;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly supersededAt: Date | null;
  readonly overlapEndsAt: Date | null;
  readonly revokedAt: Date | null;
  /** A few seconds old, because uses are written in batches. */
  readonly lastUsedAt: Date | null;
}

export type KeyStatus = "CURRENT" | "OVERLAP" | "EXPIRED" | "REVOKED";

/** Each level includes the levels before it. */
export type KeyAccess = "NONE" | "REFRESH" | "SESSION" | "FULL";

export interface KeyStanding {
  readonly access: KeyAccess;
  /** The refusal of requests that need more than `access`. */
  readonly refusal: ErrorCode | null;
  /** A gateway may cache the standing for this long. */
  readonly cacheableMs: number;
}

/** A revocation holds everywhere within this time, even where no push arrives. */
const MAX_CACHE_MS = 1_000;
/** More usable keys mean that a client refreshes in a loop. */
export const MAX_USABLE_KEYS = 100;

export const NO_ACCESS: KeyStanding = { access: "NONE", refusal: "WAUTH_001", cacheableMs: MAX_CACHE_MS };

/** A refreshed key works until its overlap ends, any other key until it expires. */
export function usableUntil(key: ApiKey): Date {
  return key.overlapEndsAt ?? key.expiresAt;
}

export function isUsable(key: ApiKey, now: Date): boolean {
  return key.revokedAt === null && now < usableUntil(key);
}

export function statusOf(key: ApiKey, now: Date): KeyStatus {
  if (key.revokedAt !== null) return "REVOKED";
  if (now >= usableUntil(key)) return "EXPIRED";
  return key.supersededAt === null ? "CURRENT" : "OVERLAP";
}

/** Decides the present access of this key. */
export function standingOf(key: ApiKey, organisation: OrganisationTerms, now: Date): KeyStanding {
  if (key.revokedAt !== null) return NO_ACCESS;
  if (now >= usableUntil(key)) return { access: "REFRESH", refusal: "WAUTH_002", cacheableMs: MAX_CACHE_MS };
  const keyLeftMs = usableUntil(key).getTime() - now.getTime();
  if (!isSubscriptionActive(organisation, now)) {
    const startsInMs = organisation.subscriptionStartsAt.getTime() - now.getTime();
    const cacheableMs = Math.min(MAX_CACHE_MS, keyLeftMs, startsInMs > 0 ? startsInMs : MAX_CACHE_MS);
    return { access: "SESSION", refusal: "WAUTH_003", cacheableMs };
  }
  const subscriptionLeftMs = organisation.subscriptionEndsAt.getTime() - now.getTime();
  return {
    access: "FULL",
    refusal: null,
    cacheableMs: Math.min(MAX_CACHE_MS, keyLeftMs, subscriptionLeftMs),
  };
}

/**
 * "refuse": the key can never be refreshed. "again": the key was refreshed before, and the caller
 * gets the same successor. "issue": a new key becomes the lineage's current key and supersedes the
 * one before.
 */
export type RefreshDecision = "refuse" | "again" | "issue";

export interface RefreshFacts {
  presented: ApiKey;
  /** The lineage's key that is neither superseded nor revoked. */
  current: ApiKey | null;
  /**
   * The secret key at hand derives `current` again. False when the secret key was rotated since.
   */
  canBeGivenAgain: boolean;
  now: Date;
}

/**
 * A lineage has one current key. A refresh of the current key replaces it; a refresh of an older
 * key gives the current key again. So concurrent refreshes and lost answers all end with the same
 * new key.
 */
export function decideRefresh({ presented, current, canBeGivenAgain, now }: RefreshFacts): RefreshDecision {
  if (presented.revokedAt !== null) return "refuse";
  if (current === null || current.keyId === presented.keyId) return "issue";
  return canBeGivenAgain && isUsable(current, now) ? "again" : "issue";
}

export interface NewKey extends Pick<ApiKey, "orgId" | "keyId" | "issuedAt" | "expiresAt"> {
  made: Pick<ApiKey, "prefix" | "hash">;
  grant: KeyGrant;
}

/** The first key of a lineage. */
export function newKey({ orgId, keyId, made, grant, issuedAt, expiresAt }: NewKey): ApiKey {
  return {
    name: grant.name,
    scopes: grant.scopes,
    allowedAddresses: grant.allowedAddresses,
    apiVersion: grant.apiVersion,
    orgId,
    keyId,
    lineageId: keyId,
    predecessorId: null,
    prefix: made.prefix,
    hash: made.hash,
    salt: null,
    version: 1n,
    issuedAt,
    expiresAt,
    supersededAt: null,
    overlapEndsAt: null,
    revokedAt: null,
    lastUsedAt: null,
  };
}

/** The key after its replacement: it works for the overlap and never past its own expiry. */
export function supersede(key: ApiKey, now: Date, overlapMs: number): ApiKey {
  const overlapEndsAt = new Date(Math.min(now.getTime() + overlapMs, key.expiresAt.getTime()));
  return { ...key, version: key.version + 1n, supersededAt: now, overlapEndsAt };
}
