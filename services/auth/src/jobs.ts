import { type Job } from "@wonrail/kit/service";
import { type App } from "./app";

/** Rows taken in one round; what is left waits for the next. */
const BATCH = 500;

/** The way in by the clock. */
export function jobs(app: App): Job[] {
  return [
    {
      name: "expire_quota_leases",
      everyMs: 2_000,
      run: async () => void (await app.expireQuotaLeases(BATCH)),
    },
    {
      name: "forget_quota_leases",
      everyMs: 60_000,
      run: async () => void (await app.forgetQuotaLeases(BATCH)),
    },
    { name: "forget_failures", everyMs: 10_000, run: async () => void (await app.forgetFailures(BATCH)) },
    { name: "verify_audit", everyMs: 30_000, run: (signal) => app.checkAudit(signal) },
  ];
}
