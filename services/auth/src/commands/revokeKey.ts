import { type Tx, tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { type JsonObject } from "@wonrail/kit/json";
import { type Deps } from "./deps";
import { type ApiKey, isUsable } from "../domain/keys";
import { keyRevoked } from "../events";
import { findApiKey, listSuccessors, updateApiKey } from "../store/apiKeys";
import { lockOrganisation } from "../store/organisations";
import { type Actor, recordChange } from "./recordChange";

/** Another key of the organisation. */
interface RevokerKey {
  keyId: Id<"key">;
}

export interface RevokeKeyInput {
  orgId: Id<"org">;
  keyId: Id<"key">;
  /** Also revokes the keys that were refreshed from this one. */
  withSuccessors?: boolean;
  /** Default: the key itself. */
  actor?: Actor | RevokerKey;
  details?: JsonObject;
}

export interface RevokedKey {
  /** The time of the key's first revocation. */
  revokedAt: Date;
  /** The key, then the successors that were asked for, oldest first. All are revoked now. */
  keyIds: Id<"key">[];
  /** The prefixes of the keys that this call revoked, oldest first. */
  prefixes: string[];
}

/** Revokes a key for good. A repeated call changes nothing. */
export async function revokeKey({ db }: Deps, input: RevokeKeyInput): Promise<RevokedKey> {
  const { orgId, keyId, withSuccessors = false } = input;
  return tx(db, async (tx) => {
    const locked = await lockOrganisation(tx, orgId);
    const actor = locked && (await nameActor(tx, input, locked.now));
    const key = locked && (await findApiKey(tx, orgId, keyId));
    if (!key) throw new DomainError(isKey(input.actor) ? "WAUTH_007" : "WAUTH_001");
    const keys = withSuccessors ? [key, ...(await listSuccessors(tx, orgId, keyId))] : [key];
    const open = keys.filter(({ revokedAt }) => revokedAt === null);
    for (const one of open) await revokeOne(tx, one, locked.now, { actor, details: input.details ?? {} });
    return {
      revokedAt: key.revokedAt ?? locked.now,
      keyIds: keys.map((one) => one.keyId),
      prefixes: open.map(({ prefix }) => prefix),
    };
  });
}

/** Undefined for the key itself. A key that was revoked meanwhile revokes no other. */
async function nameActor(
  tx: Tx,
  { orgId, keyId, actor }: RevokeKeyInput,
  now: Date,
): Promise<Actor | undefined> {
  if (!isKey(actor)) return actor;
  if (actor.keyId === keyId) return undefined;
  const revoker = await findApiKey(tx, orgId, actor.keyId);
  if (!revoker || !isUsable(revoker, now)) throw new DomainError("WAUTH_001");
  return `key:${revoker.prefix}`;
}

function isKey(actor: RevokeKeyInput["actor"]): actor is RevokerKey {
  return typeof actor === "object" && "keyId" in actor;
}

async function revokeOne(
  tx: Tx,
  key: ApiKey,
  revokedAt: Date,
  { actor, details }: { actor: Actor | undefined; details: JsonObject },
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
    details,
    events: [keyRevoked(revoked, revokedAt)],
    changes: [{ kind: "key_revoked", orgId, keyId, prefix }],
  });
}
