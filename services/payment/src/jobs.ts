import { type Job } from "@wonrail/kit/service";
import { type App } from "./app";

/** The way in by the clock. */
export function jobs(app: App): Job[] {
  return [
    { name: "finish_abandoned", everyMs: 1_000, run: () => app.finishAbandoned() },
    { name: "close_operations", everyMs: 2_000, run: (signal) => app.closeOperations(signal) },
    { name: "settle_transfers", everyMs: 500, run: (signal) => app.settleTransfers(signal) },
    { name: "note_missed_settled", everyMs: 60_000, run: () => app.noteMissedSettled() },
    { name: "delete_old_operations", everyMs: 600_000, run: (signal) => app.deleteOldOperations(signal) },
  ];
}
