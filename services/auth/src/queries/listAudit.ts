import { MAX_INT64 } from "@wonrail/kit/maxInt64";
import { type Deps } from "../commands/deps";
import { type AuditEntry } from "../domain/auditEntries";
import { listAuditEntries } from "../store/auditEntries";
import { mustFindOrganisation } from "./findOrganisation";

/**
 * An organisation's audit entries, newest first. `before` is the last sequence of the previous
 * page.
 */
export async function listAudit(
  { db }: Deps,
  input: { code: string; before?: bigint; limit: number },
): Promise<AuditEntry[]> {
  const { organisation } = await mustFindOrganisation(db, input.code);
  return listAuditEntries(db, organisation.orgId, input.before ?? MAX_INT64, input.limit);
}
