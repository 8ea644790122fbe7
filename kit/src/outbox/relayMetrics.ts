import { groupBy } from "../groupBy";
import { Counter, DURATION_BUCKETS_SECONDS, Gauge, Histogram, shared, type Registry } from "../metrics";
import type { Backlog, OutboxRow } from "./store";

type PublishedEvent = Pick<OutboxRow, "topic" | "occurred_at">;

export interface RelayMetrics {
  /** Null while the backlog is unreadable, because the last value must not look current. */
  backlog(backlog: Backlog | null): void;
  /** The events are out: Kafka acknowledged them or, without Kafka, the feed serves them. */
  published(rows: readonly PublishedEvent[]): void;
  failed(): void;
}

export function relayMetrics(registry: Registry): RelayMetrics {
  const registers = [registry];
  const pending = shared(registry, "outbox_pending", (name) => {
    return new Gauge({
      name,
      help: "Events that are not available to consumers, counted up to 100,000; absent while unknown",
      registers,
    });
  });
  const oldestAge = shared(registry, "outbox_oldest_age_seconds", (name) => {
    return new Gauge({
      name,
      help: "Age of the oldest event that is not available to consumers; absent while unknown",
      registers,
    });
  });
  const published = shared(registry, "outbox_published_total", (name) => {
    return new Counter({
      name,
      help: "Events that Kafka acknowledged or, without Kafka, that the feed has numbered",
      labelNames: ["topic"],
      registers,
    });
  });
  const failures = shared(registry, "outbox_publish_failures_total", (name) => {
    return new Counter({ name, help: "Batches that Kafka did not acknowledge", registers });
  });
  const delay = shared(registry, "outbox_publish_delay_seconds", (name) => {
    const help = "Time from the commit of an event until it is available to consumers";
    return new Histogram({ name, help, buckets: DURATION_BUCKETS_SECONDS, registers });
  });
  const backlog = (read: Backlog | null): void => {
    if (read === null) return (pending.remove(), oldestAge.remove());
    pending.set(read.pending);
    oldestAge.set(read.oldest_age_seconds);
  };
  // A gauge without labels starts at 0.
  backlog(null);
  return {
    backlog,
    published(rows) {
      const nowMs = Date.now();
      for (const { occurred_at } of rows) delay.observe(Math.max(0, nowMs - occurred_at.getTime()) / 1000);
      for (const [topic, those] of groupBy([...rows], ({ topic }) => topic))
        published.inc({ topic }, those.length);
    },
    failed: () => failures.inc(),
  };
}
