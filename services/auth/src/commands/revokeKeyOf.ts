import { invalidRequest } from "@wonrail/kit/contract/errors";
import { type Deps } from "../app";
import { mustFindOrganisation } from "../queries/findOrganisation";
import { findOrganisationKeyByPrefix } from "../store/apiKeys";
import { revokeKey } from "./revokeKey";

/** As an operator names a key: by its organisation's code and its prefix. */
export async function revokeKeyOf(
  deps: Deps,
  { code, prefix, actor }: { code: string; prefix: string; actor: string },
): Promise<{ revokedAt: Date }> {
  const { organisation } = await mustFindOrganisation(deps.db, code);
  const key = await findOrganisationKeyByPrefix(deps.db, organisation.orgId, prefix);
  if (!key) throw invalidRequest([{ path: "key", message: `${code} has no key with the prefix ${prefix}` }]);
  return revokeKey(deps, { orgId: organisation.orgId, keyId: key.keyId, actor });
}
