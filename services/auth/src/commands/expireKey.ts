import { tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { type Deps } from "./deps";
import { type ApiKey, isUsable } from "../domain/keys";
import { endApiKey, findApiKey } from "../store/apiKeys";
import { lockOrganisation } from "../store/organisations";
import { recordChange } from "./recordChange";

export interface ExpireKeyInput {
  orgId: Id<"org">;
  keyId: Id<"key">;
  /** The key that asks. */
  issuerKeyId: Id<"key">;
}

/** Ends the life of a usable key now, for the sandbox. A key that has ended stays as it is. */
export function expireKey(
  { db }: Deps,
  { orgId, keyId, issuerKeyId }: ExpireKeyInput,
): Promise<{ key: ApiKey; now: Date }> {
  return tx(db, async (tx) => {
    const locked = await lockOrganisation(tx, orgId);
    const issuer = locked && (await findApiKey(tx, orgId, issuerKeyId));
    if (!issuer) throw new DomainError("WAUTH_001");
    const key = await findApiKey(tx, orgId, keyId);
    if (!key) throw new DomainError("WAUTH_007");
    const { now, organisation } = locked;
    if (!isUsable(key, now)) return { key, now };
    const ended = await endApiKey(tx, key, now);
    await recordChange(tx, {
      ...{ orgId, at: now, actor: `key:${issuer.prefix}`, action: "sandbox_key_expired" },
      ...{ subject: key.prefix, details: {}, events: [] },
      changes: [{ kind: "organisation_changed", orgId, version: organisation.version.toString() }],
    });
    return { key: ended, now };
  });
}
