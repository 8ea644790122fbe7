import { type Queryable } from "@wonrail/kit/db";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { isId } from "@wonrail/kit/contract/ids";
import { type Deps } from "../commands/deps";
import { isSubscriptionActive, type Organisation } from "../domain/organisations";
import {
  findOrganisation as readOrganisation,
  findOrganisationByCode,
  type OrganisationAt,
} from "../store/organisations";

/** Finds an organisation by id or code, and whether its subscription is active now. */
export async function findOrganisation(
  { db }: Deps,
  by: { orgId: string } | { code: string },
): Promise<{ organisation: Organisation; subscriptionActive: boolean }> {
  const found =
    "code" in by ? await mustFindOrganisation(db, by.code) : await mustFindOrganisationById(db, by.orgId);
  return {
    organisation: found.organisation,
    subscriptionActive: isSubscriptionActive(found.organisation, found.now),
  };
}

export async function mustFindOrganisation(db: Queryable, code: string): Promise<OrganisationAt> {
  const found = await findOrganisationByCode(db, code);
  if (!found)
    throw invalidRequest([{ path: "organisation", message: `there is none with the code ${code}` }]);
  return found;
}

export async function mustFindOrganisationById(db: Queryable, orgId: string): Promise<OrganisationAt> {
  const found = isId("org", orgId) ? await readOrganisation(db, orgId) : undefined;
  if (!found) throw invalidRequest([{ path: "organisation", message: "there is none with this id" }]);
  return found;
}
