import { createApiKey } from "@wonrail/kit/contract/apiKey";
import { tx, type Tx } from "@wonrail/kit/db";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { newId, type Id } from "@wonrail/kit/contract/ids";
import { type KeyedRequest, once } from "@wonrail/kit/idempotency";
import { type JsonObject } from "@wonrail/kit/json";
import { type Deps } from "./deps";
import { type KeyGrant, limitToIssuer, makeGrant } from "../domain/grants";
import { isUsable, MAX_USABLE_KEYS, newKey, type ApiKey } from "../domain/keys";
import { type Organisation } from "../domain/organisations";
import { keyIssued } from "../events";
import { mustFindOrganisation } from "../queries/findOrganisation";
import { countUsableKeys, findApiKey, insertApiKey } from "../store/apiKeys";
import { lockOrganisation } from "../store/organisations";
import { type Actor, recordChange } from "./recordChange";

export interface IssuedKey {
  organisation: Organisation;
  key: ApiKey;
  /** Shown once and not stored. */
  apiKey: string;
}

/** Issues another API key for an operator; the organisation's other keys stay valid. */
export async function issueKey(
  deps: Deps,
  input: { code: string; grant?: Partial<KeyGrant>; expiresAt?: Date; actor: Actor },
): Promise<IssuedKey> {
  const { organisation: found } = await mustFindOrganisation(deps.db, input.code);
  const grant = makeGrant(input.grant ?? {});
  return tx(deps.db, async (tx) => {
    const { organisation, now } = (await lockOrganisation(tx, found.orgId))!;
    const expiresAt = input.expiresAt ?? usualExpiry(deps, now);
    if (expiresAt <= now) throw invalidRequest([{ path: "expires", message: "must be in the future" }]);
    const { usable } = await countUsableKeys(tx, organisation.orgId, now);
    if (usable >= MAX_USABLE_KEYS) {
      throw invalidRequest([
        { path: "organisation", message: `has ${usable} usable keys already; revoke some first` },
      ]);
    }
    const issued = await insertKey(tx, deps, { organisation, grant, now, expiresAt, actor: input.actor });
    return { organisation, ...issued };
  });
}

export interface IssueKeyByKeyInput {
  orgId: Id<"org">;
  issuerKeyId: Id<"key">;
  grant: Partial<KeyGrant>;
  expiresAt?: Date | undefined;
  clientAddress: string;
  keyed?: KeyedRequest | undefined;
}

/**
 * Issues another API key for a partner's key, with the rights of that key or fewer. A repetition
 * with the same Idempotency-Key gets the same answer without the key, which is not stored.
 */
export async function issueKeyByKey(
  deps: Deps,
  input: IssueKeyByKeyInput,
): Promise<{ key: ApiKey; apiKey: string | undefined; replayed: boolean }> {
  const { orgId, issuerKeyId, clientAddress, keyed } = input;
  const wanted = makeGrant(input.grant);
  return tx(deps.db, async (tx) => {
    const locked = await lockOrganisation(tx, orgId);
    const issuer = locked && (await findApiKey(tx, orgId, issuerKeyId));
    // The key may have been revoked while this call waited for the lock.
    if (!issuer || !isUsable(issuer, locked.now)) throw new DomainError("WAUTH_001");
    if (!issuer.scopes.includes("keys:manage")) throw new DomainError("WAUTH_005", { scope: "keys:manage" });
    const { organisation, now } = locked;
    let apiKey: string | undefined;
    const { answer: key, replayed } = await once(tx, keyed, async () => {
      const grant = limitToIssuer(wanted, issuer);
      const expiresAt = checkExpiry(deps, input.expiresAt ?? usualExpiry(deps, now), now);
      const { usable } = await countUsableKeys(tx, orgId, now);
      if (usable >= MAX_USABLE_KEYS) throw new DomainError("WAUTH_008", { limit: MAX_USABLE_KEYS });
      const details = { address: clientAddress };
      const actor = `key:${issuer.prefix}`;
      const issued = await insertKey(tx, deps, { organisation, grant, now, expiresAt, actor, details });
      apiKey = issued.apiKey;
      return issued.key;
    });
    return { key, apiKey, replayed };
  });
}

function usualExpiry({ keyLifetimeMs }: Deps, now: Date): Date {
  return new Date(now.getTime() + keyLifetimeMs);
}

function checkExpiry(deps: Deps, expiresAt: Date, now: Date): Date {
  const latest = usualExpiry(deps, now);
  const refused = (message: string) => invalidRequest([{ path: "expiresAt", message }]);
  if (expiresAt <= now) throw refused("must be in the future");
  if (expiresAt > latest) throw refused(`must not be after ${latest.toISOString()}`);
  return expiresAt;
}

interface NewKeyFacts {
  organisation: Organisation;
  grant: KeyGrant;
  now: Date;
  expiresAt: Date;
  actor: Actor;
  details?: JsonObject;
}

async function insertKey(
  tx: Tx,
  { keyMode }: Deps,
  { organisation: { orgId }, grant, now, expiresAt, actor, details }: NewKeyFacts,
): Promise<{ key: ApiKey; apiKey: string }> {
  const made = createApiKey(keyMode);
  const key = newKey({ orgId, keyId: newId("key", now.getTime()), made, grant, issuedAt: now, expiresAt });
  await insertApiKey(tx, key);
  await recordChange(tx, {
    orgId,
    at: now,
    actor,
    action: "key_issued",
    subject: key.prefix,
    details: {
      ...details,
      name: key.name,
      scopes: [...key.scopes],
      allowedAddresses: [...key.allowedAddresses],
      expiresAt: expiresAt.toISOString(),
    },
    events: [keyIssued(key)],
  });
  return { key, apiKey: made.text };
}
