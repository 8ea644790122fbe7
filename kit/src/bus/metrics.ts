import { Counter, DURATION_BUCKETS_SECONDS, Histogram, Registry, shared } from "../metrics";

export interface BusMetrics {
  published: Counter<"topic">;
  publishSeconds: Histogram;
  rebalances: Counter<"group">;
}

export function busMetrics(registry: Registry = new Registry()): BusMetrics {
  const registers = [registry];
  return {
    published: shared(
      registry,
      "bus_published_total",
      (name) =>
        new Counter({
          name,
          help: "Messages that Kafka acknowledged",
          labelNames: ["topic"],
          registers,
        }),
    ),
    publishSeconds: shared(
      registry,
      "bus_publish_seconds",
      (name) =>
        new Histogram({
          name,
          help: "Time from publishing a message until Kafka acknowledges it",
          buckets: DURATION_BUCKETS_SECONDS,
          registers,
        }),
    ),
    rebalances: shared(
      registry,
      "bus_rebalances_total",
      (name) =>
        new Counter({
          name,
          help: "Rebalances in which Kafka assigned partitions of a group to this process",
          labelNames: ["group"],
          registers,
        }),
    ),
  };
}
