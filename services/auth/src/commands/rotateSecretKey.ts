import { createSecretKey } from "@wonrail/kit/contract/apiKey";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { type Tx, tx } from "@wonrail/kit/db";
import { type KeyedRequest, once } from "@wonrail/kit/idempotency";
import { type JsonObject } from "@wonrail/kit/json";
import { type Deps } from "./deps";
import { isUsable } from "../domain/keys";
import { type Organisation } from "../domain/organisations";
import { organisationChanged } from "../events";
import { mustFindOrganisation } from "../queries/findOrganisation";
import { findApiKey } from "../store/apiKeys";
import { lockOrganisation, updateOrganisation } from "../store/organisations";
import { type Actor, recordChange } from "./recordChange";

/**
 * Issues a new secret key for an operator, to an organisation that lost or leaked its own. API keys
 * stay valid; the old secret key no longer refreshes them.
 */
export async function rotateSecretKey(
  deps: Deps,
  input: { code: string; actor: Actor },
): Promise<{ organisation: Organisation; secretKey: string }> {
  const { organisation: found } = await mustFindOrganisation(deps.db, input.code);
  return tx(deps.db, async (tx) => {
    const { organisation, now } = (await lockOrganisation(tx, found.orgId))!;
    return rotate(tx, deps, { organisation, now, actor: input.actor, details: {} });
  });
}

export interface RotateByKeyInput {
  orgId: Id<"org">;
  keyId: Id<"key">;
  clientAddress: string;
  keyed?: KeyedRequest | undefined;
}

/**
 * Issues a new secret key for a partner's key. A repetition with the same Idempotency-Key
 * changes nothing. Auth stores only the hash, so the repeated answer has no secret key.
 */
export async function rotateSecretKeyByKey(
  deps: Deps,
  { orgId, keyId, clientAddress, keyed }: RotateByKeyInput,
): Promise<{ secretKey: string | undefined; rotatedAt: Date; replayed: boolean }> {
  return tx(deps.db, async (tx) => {
    const locked = await lockOrganisation(tx, orgId);
    const key = locked && (await findApiKey(tx, orgId, keyId));
    // The key may have been revoked while this call waited for the lock.
    if (!key || !isUsable(key, locked.now)) throw new DomainError("WAUTH_001");
    if (!key.scopes.includes("keys:manage")) throw new DomainError("WAUTH_005", { scope: "keys:manage" });
    let secretKey: string | undefined;
    const { answer, replayed } = await once(tx, keyed, async () => {
      const change = { ...locked, actor: `key:${key.prefix}`, details: { address: clientAddress } };
      ({ secretKey } = await rotate(tx, deps, change));
      return { rotatedAt: locked.now };
    });
    return { ...answer, secretKey, replayed };
  });
}

interface Rotation {
  /** Locked. */
  organisation: Organisation;
  now: Date;
  actor: Actor;
  details: JsonObject;
}

async function rotate(
  tx: Tx,
  { keyMode }: Deps,
  { organisation: before, now, actor, details }: Rotation,
): Promise<{ organisation: Organisation; secretKey: string }> {
  const secretKey = createSecretKey(keyMode);
  const organisation = { ...before, version: before.version + 1n, updatedAt: now };
  await updateOrganisation(tx, organisation, secretKey.hash);
  await recordChange(tx, {
    orgId: organisation.orgId,
    at: now,
    actor,
    action: "secret_key_rotated",
    subject: organisation.code,
    details,
    events: [organisationChanged(organisation)],
    changes: [
      { kind: "organisation_changed", orgId: organisation.orgId, version: organisation.version.toString() },
    ],
  });
  return { organisation, secretKey: secretKey.text };
}
