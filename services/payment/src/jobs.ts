import { type Job } from "@wonrail/kit/service";
import { type App } from "./app";
import { settlements } from "./consumers";

/** The way in by the clock. */
export function jobs(app: App): Job[] {
  return [
    { name: "finish_abandoned", everyMs: 1_000, run: () => app.finishAbandoned() },
    { name: "close_operations", everyMs: 2_000, run: (signal) => app.closeOperations(signal) },
    { name: "settle_transfers", everyMs: 500, run: (signal) => app.settleTransfers(signal) },
    { name: "note_missed_settled", everyMs: 60_000, run: () => app.noteMissedSettled() },
    {
      name: "take_missed_events",
      everyMs: 10_000,
      run: later(60_000, (signal) => app.takeMissedEvents(settlements(app), signal)),
    },
    { name: "delete_old_operations", everyMs: 600_000, run: (signal) => app.deleteOldOperations(signal) },
  ];
}

/** What was published while no process of this service was there is not missed, but on its way. */
function later(afterMs: number, run: Job["run"]): Job["run"] {
  const beginsMs = performance.now() + afterMs;
  return async (signal) => {
    if (performance.now() >= beginsMs) await run(signal);
  };
}
