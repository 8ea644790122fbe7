import { type Job } from "@wonrail/kit/service";
import { type App } from "./app";
import { type Config } from "./config";

const MINUTE_MS = 60_000;

/** The way in by the clock. */
export function jobs(app: App, config: Pick<Config, "VERIFY_EVERY_MS">): Job[] {
  return [
    { name: "maintain_partitions", everyMs: MINUTE_MS, run: () => app.maintainPartitions() },
    { name: "count_traffic", everyMs: 10_000, run: () => app.countTraffic() },
    { name: "count_frozen_wallets", everyMs: MINUTE_MS, run: () => app.countFrozenWallets() },
    { name: "prune_keys", everyMs: MINUTE_MS, run: (signal) => app.pruneKeys(signal) },
    {
      name: "verify_journal",
      everyMs: config.VERIFY_EVERY_MS,
      run: (signal) => app.verifyJournal(signal),
    },
    { name: "verify_accounts", everyMs: MINUTE_MS, run: (signal) => app.verifyAccounts(signal) },
  ];
}
