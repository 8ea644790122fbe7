import { tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { type JsonObject } from "@wonrail/kit/json";
import { type Deps } from "../app";
import { keyRevoked } from "../events";
import { findApiKey, updateApiKey } from "../store/apiKeys";
import { lockOrganisation } from "../store/organisations";
import { recordChange } from "./recordChange";

export interface RevokeKeyInput {
  orgId: Id<"org">;
  keyId: Id<"key">;
  /** The key itself unless stated. */
  actor?: string;
  details?: JsonObject;
}

/** Ends one key for good, at the moment of the first revocation. */
export async function revokeKey({ db }: Deps, input: RevokeKeyInput): Promise<{ revokedAt: Date }> {
  const { orgId, keyId } = input;
  return tx(db, async (tx) => {
    const locked = await lockOrganisation(tx, orgId);
    const before = locked && (await findApiKey(tx, orgId, keyId));
    if (!before) throw new DomainError("WAUTH_001");
    if (before.revokedAt !== null) return { revokedAt: before.revokedAt };
    const revokedAt = locked.now;
    const key = { ...before, version: before.version + 1n, revokedAt };
    await updateApiKey(tx, key);
    await recordChange(tx, {
      orgId,
      at: revokedAt,
      actor: input.actor ?? `key:${key.prefix}`,
      action: "key_revoked",
      subject: key.prefix,
      details: input.details ?? {},
      events: [keyRevoked(key, revokedAt)],
      changes: [{ kind: "key_revoked", orgId, keyId, prefix: key.prefix }],
    });
    return { revokedAt };
  });
}
