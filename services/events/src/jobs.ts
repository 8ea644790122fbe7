import { type Job } from "@wonrail/kit/service";
import { type App } from "./app";

/** The jobs that run by the clock. */
export function jobs(app: App): Job[] {
  return [
    { name: "warn_expiring_keys", everyMs: 60_000, run: (signal) => app.warnExpiringKeys(signal) },
    { name: "warn_failing_webhooks", everyMs: 60_000, run: () => app.warnFailing() },
    { name: "delete_old_deliveries", everyMs: 60_000, run: (signal) => app.deleteOldDeliveries(signal) },
    {
      name: "delete_old_idempotency_keys",
      everyMs: 3_600_000,
      run: (signal) => app.deleteOldIdempotencyKeys(signal),
    },
    { name: "delete_old_events", everyMs: 60_000, run: (signal) => app.deleteOldEvents(signal) },
  ];
}
