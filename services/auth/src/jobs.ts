import { type Job } from "@wonrail/kit/service";
import { type App } from "./app";

/** Rows per batch. */
const BATCH = 500;

/** The jobs that run by the clock. */
export function jobs(app: App): Job[] {
  return [
    { name: "expire_quota_leases", everyMs: 2_000, run: () => app.expireQuotaLeases(BATCH) },
    { name: "write_key_uses", everyMs: 5_000, run: () => app.writeKeyUses() },
    {
      name: "delete_old_quota_leases",
      everyMs: 60_000,
      run: (signal) => app.deleteOldQuotaLeases(signal),
    },
    { name: "delete_old_failures", everyMs: 10_000, run: (signal) => app.deleteOldFailures(signal) },
    {
      name: "delete_old_idempotency_keys",
      everyMs: 3_600_000,
      run: (signal) => app.deleteOldIdempotencyKeys(signal),
    },
    { name: "verify_audit", everyMs: 30_000, run: (signal) => app.checkAudit(signal) },
  ];
}
