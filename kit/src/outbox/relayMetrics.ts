import { groupBy } from "../groupBy";
import { Counter, DURATION_BUCKETS_SECONDS, Gauge, Histogram, shared, type Registry } from "../metrics";
import type { Backlog, OutboxRow } from "./store";

export interface RelayMetrics {
  /** Null while it cannot be read: what it was must not pass for what it is. */
  backlog(backlog: Backlog | null): void;
  published(rows: OutboxRow[]): void;
  failed(): void;
}

export function relayMetrics(registry: Registry): RelayMetrics {
  const registers = [registry];
  const pending = shared(registry, "outbox_pending", (name) => {
    return new Gauge({
      name,
      help: "Events that are not on the bus yet, counted to 100,000; absent while not known",
      registers,
    });
  });
  const oldestAge = shared(registry, "outbox_oldest_age_seconds", (name) => {
    return new Gauge({
      name,
      help: "Age of the oldest event that is not on the bus yet; absent while not known",
      registers,
    });
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
  const backlog = (read: Backlog | null): void => {
    if (read === null) return (pending.remove(), oldestAge.remove());
    pending.set(read.pending);
    oldestAge.set(read.oldest_age_seconds);
  };
  // A gauge without labels is 0 from its making.
  backlog(null);
  return {
    backlog,
    published(rows) {
      const nowMs = Date.now();
      for (const { occurred_at } of rows) delay.observe(Math.max(0, nowMs - occurred_at.getTime()) / 1000);
      for (const [topic, those] of groupBy(rows, ({ topic }) => topic))
        published.inc({ topic }, those.length);
    },
    failed: () => failures.inc(),
  };
}
