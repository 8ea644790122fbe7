import { type Deps } from "../commands/deps";
import { verifyAuditAlways, type AuditReport } from "./verifyAuditAlways";

/**
 * Follows every organisation's chain from its first entry to its head, in one snapshot. Reports at
 * most one problem for each chain.
 */
export async function verifyAudit({ db }: Deps): Promise<AuditReport> {
  return verifyAuditAlways({ db, oldAtOnce: Infinity })();
}
