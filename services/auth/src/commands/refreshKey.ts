import { randomBytes, timingSafeEqual } from "node:crypto";
import { deriveApiKey, parseSecretKey, type PresentedApiKey } from "@wonrail/kit/contract/apiKey";
import { tx, type Tx } from "@wonrail/kit/db";
import { assert, DomainError } from "@wonrail/kit/contract/errors";
import { newId, type Id } from "@wonrail/kit/contract/ids";
import { type CredentialDeps, type Deps } from "./deps";
import { isAddressAllowed } from "../domain/grants";
import {
  decideRefresh,
  isUsable,
  MAX_USABLE_KEYS,
  newKey,
  supersede,
  usableUntil,
  type ApiKey,
} from "../domain/keys";
import { keyIssued, keyRefreshed } from "../events";
import {
  countUsableKeys,
  findApiKey,
  findCredentials,
  findCurrentKey,
  insertApiKey,
  updateApiKey,
} from "../store/apiKeys";
import { lockOrganisation } from "../store/organisations";
import { leaseRates } from "./leaseRates";
import { recordChange } from "./recordChange";

export interface RefreshKeyInput {
  presented: PresentedApiKey;
  secretKey: string;
  clientAddress: string;
}

export interface RefreshedKey {
  key: ApiKey;
  apiKey: string;
  /** End of the presented key's overlap; null when it no longer works. */
  oldKeyUsableUntil: Date | null;
}

/** Issues a new API key for a current or expired one, by the rules of `decideRefresh`. */
export async function refreshKey(deps: CredentialDeps, input: RefreshKeyInput): Promise<RefreshedKey> {
  const presented = await authenticate(deps, input);
  await countAgainstRate(deps, presented.orgId);
  return tx(deps.db, (tx) => refresh(tx, deps, presented, input));
}

/** Runs before any lock: a caller without the secret must not delay the organisation's requests. */
async function authenticate(
  deps: CredentialDeps,
  { presented, secretKey, clientAddress }: RefreshKeyInput,
): Promise<ApiKey> {
  const found = await findCredentials(deps.db, presented.prefix);
  const secretHash = parseSecretKey(secretKey)?.hash ?? NO_HASH;
  // Both comparisons always run, so the time of a refusal does not reveal which part was wrong.
  const keyMatches = timingSafeEqual(found?.key.hash ?? NO_HASH, presented.hash);
  const secretMatches = timingSafeEqual(found?.secretHash ?? OTHER_HASH, secretHash);
  if (found && keyMatches && secretMatches && found.key.prefix === presented.prefix) {
    if (isAddressAllowed(found.key, clientAddress)) return found.key;
    throw new DomainError("WAUTH_006", { address: clientAddress });
  }
  throw await deps.countFailure({ prefix: presented.prefix, clientAddress });
}

/**
 * Counts against the organisation's rate here: gateways do not, because a refresh has no key in its
 * header. Each refresh leaves an audit entry.
 */
async function countAgainstRate(deps: Deps, orgId: Id<"org">): Promise<void> {
  const [outcome] = await leaseRates(deps, [{ orgId, wanted: 1 }]);
  assert(outcome?.ok, "the organisation of a key exists");
  const { granted, retryAfterMs } = outcome.value;
  if (granted === 0) throw new DomainError("RATE_001", { retryAfterMs });
}

async function refresh(tx: Tx, deps: Deps, shown: ApiKey, input: RefreshKeyInput): Promise<RefreshedKey> {
  const { secretHash, now } = (await lockOrganisation(tx, shown.orgId))!;
  // The secret may have been rotated, and the key revoked, while this call waited for the lock.
  const isSecretCurrent = parseSecretKey(input.secretKey)?.hash.equals(secretHash) ?? false;
  const presented = (await findApiKey(tx, shown.orgId, shown.keyId))!;
  const current = (await findCurrentKey(tx, presented.orgId, presented.lineageId)) ?? null;
  const again = current?.salt ? deriveApiKey(deps.keyMode, input.secretKey, current.salt) : null;
  const canBeGivenAgain = again !== null && again.hash.equals(current!.hash);
  const decision = decideRefresh({ presented, current, canBeGivenAgain, now });
  const facts: RefreshFacts = { deps, input, presented, now };
  switch (isSecretCurrent ? decision : "refuse") {
    case "refuse":
      throw new DomainError("WAUTH_001");
    case "again":
      return giveAgain(tx, facts, current!, again!.text);
    case "issue":
      return issueSuccessor(tx, facts, current);
  }
}

interface RefreshFacts {
  deps: Deps;
  input: RefreshKeyInput;
  presented: ApiKey;
  now: Date;
}

/** Changes no key, but hands out a credential, so it writes an audit entry. */
async function giveAgain(
  tx: Tx,
  facts: RefreshFacts,
  current: ApiKey,
  apiKey: string,
): Promise<RefreshedKey> {
  await recordChange(tx, {
    ...recordOf(facts),
    action: "key_given_again",
    subject: current.prefix,
    events: [],
  });
  return { key: current, apiKey, oldKeyUsableUntil: usableUntilOrNull(facts.presented, facts.now) };
}

async function issueSuccessor(tx: Tx, facts: RefreshFacts, current: ApiKey | null): Promise<RefreshedKey> {
  const { deps, input, presented, now } = facts;
  await requireRoomForOneMore(tx, presented, now);
  const salt = randomBytes(16);
  const made = deriveApiKey(deps.keyMode, input.secretKey, salt);
  const superseded = current && supersede(current, now, deps.keyOverlapMs);
  const keyId = newId("key", now.getTime());
  const expiresAt = new Date(now.getTime() + deps.keyLifetimeMs);
  const successor: ApiKey = {
    ...newKey({ orgId: presented.orgId, keyId, made, grant: presented, issuedAt: now, expiresAt }),
    lineageId: presented.lineageId,
    predecessorId: (superseded ?? presented).keyId,
    salt,
  };
  if (superseded) await updateApiKey(tx, superseded);
  await insertApiKey(tx, successor);
  const events = [...(superseded ? [keyRefreshed(superseded, successor)] : []), keyIssued(successor)];
  await recordChange(tx, { ...recordOf(facts), action: "key_refreshed", subject: successor.prefix, events });
  const oldKey = superseded?.keyId === presented.keyId ? superseded : presented;
  return { key: successor, apiKey: made.text, oldKeyUsableUntil: usableUntilOrNull(oldKey, now) };
}

function recordOf({ presented, input, now }: RefreshFacts) {
  const details = { presented: presented.prefix, address: input.clientAddress };
  return { orgId: presented.orgId, at: now, actor: `key:${presented.prefix}`, details };
}

async function requireRoomForOneMore(tx: Tx, presented: ApiKey, now: Date): Promise<void> {
  const { usable, firstEndsAt } = await countUsableKeys(tx, presented.orgId, now);
  if (usable < MAX_USABLE_KEYS) return;
  throw new DomainError("RATE_001", { retryAfterMs: firstEndsAt!.getTime() - now.getTime() });
}

function usableUntilOrNull(key: ApiKey, now: Date): Date | null {
  return isUsable(key, now) ? usableUntil(key) : null;
}

/** Stand-ins for absent hashes. They differ, so an absent hash never equals an absent secret. */
const NO_HASH = randomBytes(32);
const OTHER_HASH = randomBytes(32);
