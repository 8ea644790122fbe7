import { type Deps } from "../app";
import { deleteClosedQuotaLeases } from "../store/quotaLeases";

/** How long the account of an expired lease is still taken. */
const KEPT_DAYS = 7;
const AT_ONCE = 500;

/** One batch a round would fall behind what gateways leave, for good. */
export async function deleteOldQuotaLeases({ db }: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if ((await deleteClosedQuotaLeases(db, KEPT_DAYS, AT_ONCE)) < AT_ONCE) return;
  }
}
