import { type Deps } from "./deps";
import { deleteClosedQuotaLeases } from "../store/quotaLeases";

/** An expired lease still accepts its account for this long. */
const KEPT_DAYS = 7;
const AT_ONCE = 500;

/** Repeats batches until none is left, because gateways can outpace one batch per round. */
export async function deleteOldQuotaLeases({ db }: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if ((await deleteClosedQuotaLeases(db, KEPT_DAYS, AT_ONCE)) < AT_ONCE) return;
  }
}
