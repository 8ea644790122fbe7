import { createApiKey, createSecretKey } from "@wonrail/kit/contract/apiKey";
import { isUniqueViolation, tx } from "@wonrail/kit/db";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { type Deps } from "./deps";
import { makeGrant } from "../domain/grants";
import { newKey, type ApiKey } from "../domain/keys";
import { makeOrganisation, type NewOrganisation, type Organisation } from "../domain/organisations";
import { keyIssued, organisationChanged } from "../events";
import { insertApiKey } from "../store/apiKeys";
import { databaseTime, insertOrganisation } from "../store/organisations";
import { type Actor, recordChange } from "./recordChange";

export interface CreatedOrganisation {
  organisation: Organisation;
  key: ApiKey;
  /** Both keys are shown once and not stored. */
  apiKey: string;
  secretKey: string;
}

/** An organisation with its secret key and its first API key. */
export async function createOrganisation(
  { db, keyMode, keyLifetimeMs }: Deps,
  input: NewOrganisation & { actor: Actor },
): Promise<CreatedOrganisation> {
  const secretKey = createSecretKey(keyMode);
  const apiKey = createApiKey(keyMode);
  const orgId = newId("org");
  return tx(db, async (tx) => {
    const now = await databaseTime(tx);
    const organisation = makeOrganisation(orgId, input, now);
    const keyId = newId("key", now.getTime());
    const expiresAt = new Date(now.getTime() + keyLifetimeMs);
    const key = newKey({ orgId, keyId, made: apiKey, grant: makeGrant({}), issuedAt: now, expiresAt });
    await insertOrganisation(tx, organisation, secretKey.hash);
    await insertApiKey(tx, key);
    await recordChange(tx, {
      orgId,
      at: now,
      actor: input.actor,
      action: "organisation_created",
      subject: organisation.code,
      details: { plan: organisation.plan, key: key.prefix },
      events: [organisationChanged(organisation), keyIssued(key)],
    });
    return { organisation, key, apiKey: apiKey.text, secretKey: secretKey.text };
  }).catch((error: unknown) => {
    if (!isUniqueViolation(error, "organisations_code_key")) throw error;
    throw invalidRequest([{ path: "code", message: "another organisation has this code" }]);
  });
}
