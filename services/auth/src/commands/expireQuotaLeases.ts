import { tx } from "@wonrail/kit/db";
import { type Deps } from "./deps";
import { expireLease } from "../domain/quotas";
import { expireQuotaLeases as markExpired, findOverdueUsages } from "../store/quotaLeases";
import { lockQuotaUsages, updateQuotaUsage } from "../store/quotaUsages";

/** Counts the units of overdue leases as spent. */
export async function expireQuotaLeases({ db }: Deps, limit: number): Promise<number> {
  let expired = 0;
  for (const key of await findOverdueUsages(db, limit)) {
    expired += await tx(db, async (tx) => {
      const usage = (await lockQuotaUsages(tx, key, [])).get(key.period)!;
      const leases = await markExpired(tx, key);
      await updateQuotaUsage(tx, key, leases.reduce(expireLease, usage));
      return leases.length;
    });
  }
  return expired;
}
