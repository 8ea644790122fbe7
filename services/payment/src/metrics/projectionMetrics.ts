import { type Database } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { Gauge, Histogram, type Registry } from "@wonrail/kit/metrics";
import { findOldestPendingSeconds } from "../store/transfers";

const LAG_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800];

export type ProjectionMetrics = ReturnType<typeof createProjectionMetrics>;

export function createProjectionMetrics({ db, registry }: { db: Database; registry: Registry }) {
  const lag = new Histogram({
    name: "payment_projection_lag_seconds",
    help: "Age of the oldest event of a batch when payment writes the batch",
    labelNames: ["topic"],
    buckets: LAG_BUCKETS_SECONDS,
    registers: [registry],
  });
  new Gauge({
    name: "payment_pending_transfers_oldest_seconds",
    help: "Age of the oldest PENDING transfer to an outside address; absent while the database is unreachable",
    registers: [registry],
    // Without a value when the database is away: NaN would hide the other replicas' values in a sum.
    collect() {
      return findOldestPendingSeconds(db).then(
        (seconds) => this.set(seconds),
        () => this.remove(),
      );
    },
  });
  return {
    /** Events of one topic, in the order of the topic. */
    wrote([oldest]: ReceivedEvent[]): void {
      if (oldest)
        lag.observe({ topic: oldest.topic }, Math.max(0, Date.now() - oldest.occurredAt.getTime()) / 1000);
    },
  };
}
