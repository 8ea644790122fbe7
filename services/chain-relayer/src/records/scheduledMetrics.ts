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
      help: "Time from the scheduled time of a transfer until payment accepted it",
      buckets: LATE_BUCKETS_SECONDS,
      registers,
    }),
    oldestDue: new Gauge({
      name: "scheduled_due_oldest_seconds",
      help: "Delay of the oldest due scheduled transfer that payment has not accepted",
      registers,
    }),
  };
}
