import { invalidRequest } from "@wonrail/kit/contract/errors";
import { type Deps } from "./deps";
import { mustFindOrganisation } from "../queries/findOrganisation";
import { findOrganisationKeyByPrefix } from "../store/apiKeys";
import { type Actor } from "./recordChange";
import { revokeKey, type RevokedKey } from "./revokeKey";

export interface RevokeKeyOfInput {
  code: string;
  prefix: string;
  actor: Actor;
  withSuccessors?: boolean;
  /** Others know the key: its successors are revoked too, and the audit trail keeps it. */
  isLeaked?: boolean;
}

/** Revokes a key that an operator names by organisation code and prefix. */
export async function revokeKeyOf(
  deps: Deps,
  { code, prefix, actor, withSuccessors = false, isLeaked = false }: RevokeKeyOfInput,
): Promise<RevokedKey> {
  const { organisation } = await mustFindOrganisation(deps.db, code);
  const key = await findOrganisationKeyByPrefix(deps.db, organisation.orgId, prefix);
  if (!key) throw invalidRequest([{ path: "key", message: `${code} has no key with the prefix ${prefix}` }]);
  return revokeKey(deps, {
    orgId: organisation.orgId,
    keyId: key.keyId,
    actor,
    withSuccessors: withSuccessors || isLeaked,
    ...(isLeaked && { details: { isLeaked } }),
  });
}
