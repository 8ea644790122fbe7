import { type Job } from "@wonrail/kit/service";
import { type App } from "./app";

/** The jobs that run by the clock. */
export function jobs(app: App): Job[] {
  return [
    { name: "finish_wallets", everyMs: 2_000, run: (signal) => app.finishWallets(signal) },
    { name: "reopen_wallets", everyMs: 2_000, run: (signal) => app.reopenWallets(signal) },
    {
      name: "delete_old_idempotency_keys",
      everyMs: 3_600_000,
      run: (signal) => app.deleteOldIdempotencyKeys(signal),
    },
    { name: "escrow_seeds", everyMs: 600_000, run: (signal) => app.escrowSeeds(signal) },
    { name: "delete_old_velocity", everyMs: 3_600_000, run: (signal) => app.deleteOldVelocity(signal) },
  ];
}
