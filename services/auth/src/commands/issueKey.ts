import { createApiKey } from "@wonrail/kit/contract/apiKey";
import { tx } from "@wonrail/kit/db";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { type Deps } from "./deps";
import { MAX_USABLE_KEYS, newKey, type ApiKey } from "../domain/keys";
import { type Organisation } from "../domain/organisations";
import { keyIssued } from "../events";
import { mustFindOrganisation } from "../queries/findOrganisation";
import { countUsableKeys, insertApiKey } from "../store/apiKeys";
import { lockOrganisation } from "../store/organisations";
import { recordChange } from "./recordChange";

export interface IssuedKey {
  organisation: Organisation;
  key: ApiKey;
  /** Shown once and not stored. */
  apiKey: string;
}

/** Issues another API key; the organisation's other keys stay valid. */
export async function issueKey(
  { db, keyMode, keyLifetimeMs }: Deps,
  input: { code: string; expiresAt?: Date; actor: string },
): Promise<IssuedKey> {
  const { organisation: found } = await mustFindOrganisation(db, input.code);
  const apiKey = createApiKey(keyMode);
  return tx(db, async (tx) => {
    const { organisation, now } = (await lockOrganisation(tx, found.orgId))!;
    const expiresAt = input.expiresAt ?? new Date(now.getTime() + keyLifetimeMs);
    if (expiresAt <= now) throw invalidRequest([{ path: "expires", message: "must be in the future" }]);
    const { usable } = await countUsableKeys(tx, organisation.orgId, now);
    if (usable >= MAX_USABLE_KEYS) {
      throw invalidRequest([
        { path: "organisation", message: `has ${usable} usable keys already; revoke some first` },
      ]);
    }
    const keyId = newId("key", now.getTime());
    const key = newKey({ orgId: organisation.orgId, keyId, made: apiKey, issuedAt: now, expiresAt });
    await insertApiKey(tx, key);
    await recordChange(tx, {
      orgId: organisation.orgId,
      at: now,
      actor: input.actor,
      action: "key_issued",
      subject: key.prefix,
      details: { expiresAt: expiresAt.toISOString() },
      events: [keyIssued(key)],
    });
    return { organisation, key, apiKey: apiKey.text };
  });
}
