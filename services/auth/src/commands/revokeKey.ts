import { type Tx, tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { type JsonObject } from "@wonrail/kit/json";
import { type Deps } from "./deps";
import { type ApiKey } from "../domain/keys";
import { keyRevoked } from "../events";
import { findApiKey, listSuccessors, updateApiKey } from "../store/apiKeys";
import { lockOrganisation } from "../store/organisations";
import { recordChange } from "./recordChange";

export interface RevokeKeyInput {
  orgId: Id<"org">;
  keyId: Id<"key">;
  /** Also revokes the keys that were refreshed from this one. */
  withSuccessors?: boolean;
  /** Default: the key itself. */
  actor?: string;
  details?: JsonObject;
}

export interface RevokedKey {
  /** The time of the key's first revocation. */
  revokedAt: Date;
  /** The prefixes of the keys that this call revoked, oldest first. */
  prefixes: string[];
}

/** Revokes a key for good. A repeated call changes nothing. */
export async function revokeKey({ db }: Deps, input: RevokeKeyInput): Promise<RevokedKey> {
  const { orgId, keyId, withSuccessors = false } = input;
  return tx(db, async (tx) => {
    const locked = await lockOrganisation(tx, orgId);
    const key = locked && (await findApiKey(tx, orgId, keyId));
    if (!key) throw new DomainError("WAUTH_001");
    const keys = withSuccessors ? [key, ...(await listSuccessors(tx, orgId, keyId))] : [key];
    const open = keys.filter(({ revokedAt }) => revokedAt === null);
    for (const one of open) await revokeOne(tx, one, locked.now, input);
    return { revokedAt: key.revokedAt ?? locked.now, prefixes: open.map(({ prefix }) => prefix) };
  });
}

async function revokeOne(
  tx: Tx,
  key: ApiKey,
  revokedAt: Date,
  { actor, details }: RevokeKeyInput,
): Promise<void> {
  const { orgId, keyId, prefix } = key;
  const revoked = { ...key, version: key.version + 1n, revokedAt };
  await updateApiKey(tx, revoked);
  await recordChange(tx, {
    orgId,
    at: revokedAt,
    actor: actor ?? `key:${prefix}`,
    action: "key_revoked",
    subject: prefix,
    details: details ?? {},
    events: [keyRevoked(revoked, revokedAt)],
    changes: [{ kind: "key_revoked", orgId, keyId, prefix }],
  });
}
