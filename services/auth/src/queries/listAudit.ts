import { type Deps } from "../app";
import { type AuditEntry } from "../domain/auditEntries";
import { listAuditEntries } from "../store/auditEntries";
import { mustFindOrganisation } from "./findOrganisation";

const LAST = 9_223_372_036_854_775_807n;

/** What was done to an organisation, newest first; `before` is the last sequence of the page before. */
export async function listAudit(
  { db }: Deps,
  input: { code: string; before?: bigint; limit: number },
): Promise<AuditEntry[]> {
  const { organisation } = await mustFindOrganisation(db, input.code);
  return listAuditEntries(db, organisation.orgId, input.before ?? LAST, input.limit);
}
