import { Counter, DURATION_BUCKETS_SECONDS, Gauge, Histogram, shared, type Registry } from "../metrics";
import type { Backlog, OutboxRow } from "./store";

export interface RelayMetrics {
  backlog(backlog: Backlog): void;
  published(rows: OutboxRow[]): void;
  failed(): void;
}

export function relayMetrics(registry: Registry): RelayMetrics {
  const registers = [registry];
  const pending = shared(registry, "outbox_pending", (name) => {
    return new Gauge({ name, help: "Events that are not on the bus yet, counted to 100,000", registers });
  });
  const oldestAge = shared(registry, "outbox_oldest_age_seconds", (name) => {
    return new Gauge({ name, help: "Age of the oldest event that is not on the bus yet", registers });
  });
  const published = shared(registry, "outbox_published_total", (name) => {
    return new Counter({ name, help: "Events that the bus acknowledged", labelNames: ["topic"], registers });
  });
  const failures = shared(registry, "outbox_publish_failures_total", (name) => {
    return new Counter({ name, help: "Batches that the bus did not acknowledge", registers });
  });
  const delay = shared(registry, "outbox_publish_delay_seconds", (name) => {
    const help = "From an event's appending to the bus's acknowledgement";
    return new Histogram({ name, help, buckets: DURATION_BUCKETS_SECONDS, registers });
  });
  return {
    backlog(backlog) {
      pending.set(backlog.pending);
      oldestAge.set(backlog.oldest_age_seconds);
    },
    published(rows) {
      const nowMs = Date.now();
      for (const { topic, occurred_at } of rows) {
        published.inc({ topic });
        delay.observe(Math.max(0, nowMs - occurred_at.getTime()) / 1000);
      }
    },
    failed: () => failures.inc(),
  };
}
