import { Gauge, Histogram, type Registry } from "@wonrail/kit/metrics";

export type ScheduledMetrics = ReturnType<typeof createScheduledMetrics>;

/** Seconds. The promised two are an edge. */
const LATE_BUCKETS_SECONDS = [0.25, 0.5, 1, 2, 5, 15, 60, 300, 1800];

/** Metrics of scheduled transfers. */
export function createScheduledMetrics(registry: Registry) {
  const registers = [registry];
  return {
    late: new Histogram({
      name: "scheduled_late_seconds",
      help: "From the time for which a transfer was scheduled until payment had taken it",
      buckets: LATE_BUCKETS_SECONDS,
      registers,
    }),
    oldestDue: new Gauge({
      name: "scheduled_due_oldest_seconds",
      help: "How long the oldest scheduled transfer has been due that payment has not taken",
      registers,
    }),
  };
}
