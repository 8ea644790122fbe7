import { randomBytes, timingSafeEqual } from "node:crypto";
import { type PresentedApiKey } from "@wonrail/kit/contract/apiKey";
import { type DomainError } from "@wonrail/kit/contract/errors";
import { type Deps } from "../app";
import { NO_ACCESS, standingOf, type ApiKey, type KeyStanding } from "../domain/keys";
import { isSubscriptionActive, type Organisation } from "../domain/organisations";
import { findCredentials } from "../store/apiKeys";
import { countFailure } from "./countFailure";

export interface ResolveKeyInput {
  presented: PresentedApiKey;
  clientAddress: string;
}

export interface ResolvedKey {
  standing: KeyStanding;
  /** A refusal with details of its own, in place of the standing's. */
  refusal?: DomainError;
  /** Absent when the key gives no access. */
  caller?: { key: ApiKey; organisation: Organisation; subscriptionActive: boolean };
}

/** Whose key this is and what it may do now. Counts the wrong ones. */
export async function resolveKey(
  deps: Deps,
  { presented, clientAddress }: ResolveKeyInput,
): Promise<ResolvedKey> {
  const found = await findCredentials(deps.db, presented.prefix);
  // Always compared, against something: how long a refusal takes says nothing about which prefixes exist.
  const hashMatches = timingSafeEqual(found?.key.hash ?? NO_HASH, presented.hash);
  if (!found || !hashMatches || found.key.prefix !== presented.prefix) {
    return { standing: NO_ACCESS, refusal: await countFailure(deps, presented.prefix, clientAddress) };
  }
  const { key, organisation, now } = found;
  const standing = standingOf(key, organisation, now);
  if (standing.access === "NONE") return { standing };
  return {
    standing,
    caller: { key, organisation, subscriptionActive: isSubscriptionActive(organisation, now) },
  };
}

const NO_HASH = randomBytes(32);
