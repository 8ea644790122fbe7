import { randomBytes, timingSafeEqual } from "node:crypto";
import { type PresentedApiKey } from "@wonrail/kit/contract/apiKey";
import { type DomainError } from "@wonrail/kit/contract/errors";
import { type CredentialDeps } from "./deps";
import { NO_ACCESS, standingOf, type ApiKey, type KeyStanding } from "../domain/keys";
import { isSubscriptionActive, type Organisation } from "../domain/organisations";
import { findCredentials } from "../store/apiKeys";

export interface ResolveKeyInput {
  presented: PresentedApiKey;
  clientAddress: string;
}

export interface ResolvedKey {
  standing: KeyStanding;
  /** Replaces the standing's refusal with one that has details. */
  refusal?: DomainError;
  /** Absent when the key gives no access. */
  caller?: { key: ApiKey; organisation: Organisation; subscriptionActive: boolean };
}

/** Finds the key's organisation and access. Counts wrong keys. */
export async function resolveKey(
  deps: CredentialDeps,
  { presented, clientAddress }: ResolveKeyInput,
): Promise<ResolvedKey> {
  const found = await findCredentials(deps.db, presented.prefix);
  // The comparison always runs, so the time of a refusal does not reveal which prefixes exist.
  const hashMatches = timingSafeEqual(found?.key.hash ?? NO_HASH, presented.hash);
  if (!found || !hashMatches || found.key.prefix !== presented.prefix) {
    const refusal = await deps.countFailure({ prefix: presented.prefix, clientAddress });
    return { standing: NO_ACCESS, refusal };
  }
  const { key, organisation, now } = found;
  const standing = standingOf(key, organisation, now);
  if (standing.access === "NONE") return { standing };
  if (standing.access !== "REFRESH") deps.addUse(key, now);
  return {
    standing,
    caller: { key, organisation, subscriptionActive: isSubscriptionActive(organisation, now) },
  };
}

const NO_HASH = randomBytes(32);
