import { type Deps } from "../commands/deps";
import { type ApiKey } from "../domain/keys";
import { listApiKeys } from "../store/apiKeys";
import { mustFindOrganisation } from "./findOrganisation";

/** An organisation's keys, newest first, and the database's time. */
export async function listKeys(
  { db }: Deps,
  input: { code: string; limit: number },
): Promise<{ keys: ApiKey[]; now: Date }> {
  const { organisation, now } = await mustFindOrganisation(db, input.code);
  return { keys: await listApiKeys(db, organisation.orgId, input.limit), now };
}
