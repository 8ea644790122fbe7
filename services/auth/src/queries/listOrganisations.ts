import { type Deps } from "../commands/deps";
import { isSubscriptionActive, type Organisation } from "../domain/organisations";
import { listOrganisations as readOrganisations } from "../store/organisations";

/** All organisations by code. `afterCode` is the last code of the previous page. */
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
