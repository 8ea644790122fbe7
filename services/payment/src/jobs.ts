import { type Job } from "@wonrail/kit/service";
import { type App } from "./app";

/** The way in by the clock. */
export function jobs(app: App): Job[] {
  return [
    { name: "settle_transfers", everyMs: 500, run: (signal) => app.settleTransfers(signal) },
    { name: "run_payouts", everyMs: 500, run: (signal) => app.runPayouts(signal) },
    { name: "mark_missed_settled", everyMs: 60_000, run: () => app.markMissedSettled() },
    { name: "rebuild_records", everyMs: 1_000, run: (signal) => app.rebuildRecords(signal) },
  ];
}
