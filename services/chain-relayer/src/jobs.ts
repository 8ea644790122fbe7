import { type Job } from "@wonrail/kit/service";
import { type App } from "./app";

/** The way in by the clock. */
export function jobs(app: App): Job[] {
  return [
    {
      name: "dispatch",
      everyMs: 250,
      // Polls for other replicas' entries, retries and resumed queues.
      quiet: { everyMs: 1_000, word: app.toDispatch },
      run: (signal) => app.dispatch(signal),
    },
    { name: "correct_heads", everyMs: 60_000, run: (signal) => app.correctHeads(signal) },
    { name: "scan_finalized", everyMs: 500, run: (signal) => app.scanFinalized(signal) },
    { name: "expire_holds", everyMs: 2_000, run: (signal) => app.expireHolds(signal) },
    { name: "measure", everyMs: 10_000, run: () => app.measureOperations() },
    { name: "measure_chain", everyMs: 10_000, run: (signal) => app.measureChain(signal) },
    { name: "credit_deposits", everyMs: 500, run: (signal) => app.creditDeposits(signal) },
    { name: "freeze_blocked_wallets", everyMs: 1_000, run: (signal) => app.freezeBlockedWallets(signal) },
    { name: "reconcile", everyMs: 1_000, run: (signal) => app.reconcile(signal) },
    { name: "measure_books", everyMs: 5_000, run: () => app.measureBooks() },
    { name: "run_scheduled_records", everyMs: 250, run: (signal) => app.runScheduledRecords(signal) },
    { name: "finish_scheduled_records", everyMs: 500, run: (signal) => app.finishScheduledRecords(signal) },
    { name: "watch_instant_records", everyMs: 500, run: (signal) => app.watchInstantRecords(signal) },
    { name: "clamp_future_retries", everyMs: 30_000, run: () => app.clampFutureRetries() },
    { name: "prune_signed_bytes", everyMs: 3_600_000, run: (signal) => app.pruneSignedBytes(signal) },
  ];
}
