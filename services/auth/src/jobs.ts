import { type Job } from "@wonrail/kit/service";
import { type App } from "./app";

/** Rows taken at once. */
const BATCH = 500;

/** The way in by the clock. */
export function jobs(app: App): Job[] {
  return [
    { name: "expire_quota_leases", everyMs: 2_000, run: () => app.expireQuotaLeases(BATCH) },
    {
      name: "forget_quota_leases",
      everyMs: 60_000,
      run: (signal) => untilFewAreLeft(app.forgetQuotaLeases, signal),
    },
    {
      name: "forget_failures",
      everyMs: 10_000,
      run: (signal) => untilFewAreLeft(app.forgetFailures, signal),
    },
    { name: "verify_audit", everyMs: 30_000, run: (signal) => app.checkAudit(signal) },
  ];
}

/** One batch a round would fall behind what gateways and guessers leave, for good. */
async function untilFewAreLeft(
  forget: (limit: number) => Promise<number>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    if ((await forget(BATCH)) < BATCH) return;
  }
}
