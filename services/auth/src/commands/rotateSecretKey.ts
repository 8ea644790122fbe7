import { createSecretKey } from "@wonrail/kit/contract/apiKey";
import { tx } from "@wonrail/kit/db";
import { type Deps } from "./deps";
import { type Organisation } from "../domain/organisations";
import { organisationChanged } from "../events";
import { mustFindOrganisation } from "../queries/findOrganisation";
import { lockOrganisation, updateOrganisation } from "../store/organisations";
import { type Actor, recordChange } from "./recordChange";

/**
 * Issues a new secret key to an organisation that lost or leaked its own. API keys stay valid; the
 * old secret key no longer refreshes them.
 */
export async function rotateSecretKey(
  { db, keyMode }: Deps,
  input: { code: string; actor: Actor },
): Promise<{ organisation: Organisation; secretKey: string }> {
  const { organisation: found } = await mustFindOrganisation(db, input.code);
  const secretKey = createSecretKey(keyMode);
  return tx(db, async (tx) => {
    const { organisation: before, now } = (await lockOrganisation(tx, found.orgId))!;
    const organisation = { ...before, version: before.version + 1n, updatedAt: now };
    await updateOrganisation(tx, organisation, secretKey.hash);
    await recordChange(tx, {
      orgId: organisation.orgId,
      at: now,
      actor: input.actor,
      action: "secret_key_rotated",
      subject: organisation.code,
      details: {},
      events: [organisationChanged(organisation)],
      changes: [
        { kind: "organisation_changed", orgId: organisation.orgId, version: organisation.version.toString() },
      ],
    });
    return { organisation, secretKey: secretKey.text };
  });
}
