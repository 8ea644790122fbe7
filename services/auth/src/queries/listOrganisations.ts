import { type Deps } from "../app";
import { isSubscriptionActive, type Organisation } from "../domain/organisations";
import { listOrganisations as readOrganisations } from "../store/organisations";

/** In the order of their codes; `afterCode` is the last one of the page before. */
export async function listOrganisations(
  { db }: Deps,
  input: { afterCode: string; limit: number },
): Promise<{ organisation: Organisation; subscriptionActive: boolean }[]> {
  const found = await readOrganisations(db, input.afterCode, input.limit);
  return found.map(({ organisation, now }) => ({
    organisation,
    subscriptionActive: isSubscriptionActive(organisation, now),
  }));
}
