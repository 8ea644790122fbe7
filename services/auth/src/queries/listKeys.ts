import { type Deps } from "../commands/deps";
import { standingOf, type ApiKey, type KeyAccess } from "../domain/keys";
import { listApiKeys } from "../store/apiKeys";
import { mustFindOrganisation } from "./findOrganisation";

/** An organisation's keys, newest first, each with its access. */
export async function listKeys(
  { db }: Deps,
  input: { code: string; limit: number },
): Promise<{ key: ApiKey; access: KeyAccess }[]> {
  const { organisation, now } = await mustFindOrganisation(db, input.code);
  const keys = await listApiKeys(db, organisation.orgId, input.limit);
  return keys.map((key) => ({ key, access: standingOf(key, organisation, now).access }));
}
