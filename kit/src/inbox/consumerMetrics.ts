import { Counter, DURATION_BUCKETS_SECONDS, Gauge, Histogram, shared, type Registry } from "../metrics";

export interface PartitionLag {
  topic: string;
  partition: number;
  /** Events behind the cursor. */
  messages: number;
  /** Age of the first event behind the cursor; 0 when there is none. */
  oldestAgeMs: number;
}

/** `skipped`: an event of a type without a handler. `retried`: an attempt that will be repeated. */
export type MessageOutcome = "processed" | "duplicate" | "skipped" | "retried" | "dead";

export interface ConsumerMetrics {
  count(topic: string, outcome: MessageOutcome, messages?: number): void;
  batchTook(seconds: number): void;
  /** A reader called a feed. */
  feedRead(topic: string): void;
  /** The feed brought events of partitions in which Kafka was quiet. */
  repaired(topic: string, events: number): void;
  /** Kafka delivered a number that was not the next one. */
  gapFound(topic: string): void;
  /** A producer was restored to an earlier state. */
  restarted(topic: string): void;
  /** Events left the feed before the group read them. */
  pruned(topic: string, events: number): void;
  /** Replaces the series of all partitions: pass none while the feed is away. */
  lag(partitions: PartitionLag[]): void;
}

export function consumerMetrics(registry: Registry, group: string): ConsumerMetrics {
  const registers = [registry];
  const messages = shared(registry, "consumer_messages_total", (name) => {
    const labelNames = ["group", "topic", "outcome"];
    return new Counter({ name, help: "Events by their outcome", labelNames, registers });
  });
  const dead = shared(registry, "dead_letters_total", (name) => {
    const help = "Events that could not be handled and became dead letters";
    return new Counter({ name, help, labelNames: ["group", "topic"], registers });
  });
  const processing = shared(registry, "consumer_processing_seconds", (name) => {
    const help = "Time to handle a batch of events, with its commit";
    return new Histogram({ name, help, labelNames: ["group"], buckets: DURATION_BUCKETS_SECONDS, registers });
  });
  const labelNames = ["group", "topic", "partition"];
  const lagMessages = shared(registry, "consumer_lag_messages", (name) => {
    return new Gauge({
      name,
      help: "Events in the feed that the group has not processed; absent while unknown",
      labelNames,
      registers,
    });
  });
  const lagSeconds = shared(registry, "consumer_lag_seconds", (name) => {
    return new Gauge({
      name,
      help: "Age of the first event that the group has not processed; absent while unknown",
      labelNames,
      registers,
    });
  });
  const { reads, repaired, gaps, restarts, pruned } = feedCounters(registry);
  let reported: PartitionLag[] = [];
  return {
    count(topic, outcome, count = 1) {
      if (count === 0) return;
      messages.inc({ group, topic, outcome }, count);
      if (outcome === "dead") dead.inc({ group, topic }, count);
    },
    feedRead: (topic) => reads.inc({ group, topic }),
    repaired: (topic, events) => repaired.inc({ group, topic }, events),
    gapFound: (topic) => gaps.inc({ group, topic }),
    restarted: (topic) => restarts.inc({ group, topic }),
    pruned: (topic, events) => pruned.inc({ group, topic }, events),
    batchTook: (seconds) => processing.observe({ group }, seconds),
    lag(partitions) {
      for (const { topic, partition } of reported) {
        lagMessages.remove({ group, topic, partition });
        lagSeconds.remove({ group, topic, partition });
      }
      reported = partitions;
      for (const { topic, partition, messages: behind, oldestAgeMs } of partitions) {
        lagMessages.set({ group, topic, partition }, behind);
        lagSeconds.set({ group, topic, partition }, oldestAgeMs / 1000);
      }
    },
  };
}

function feedCounters(registry: Registry) {
  const registers = [registry];
  const reads = shared(registry, "feed_reads_total", (name) => {
    const help = "Calls of ListEvents";
    return new Counter({ name, help, labelNames: ["group", "topic"], registers });
  });
  const repaired = shared(registry, "feed_repaired_events_total", (name) => {
    const help = "Events that the feed delivered because Kafka did not";
    return new Counter({ name, help, labelNames: ["group", "topic"], registers });
  });
  const gaps = shared(registry, "feed_gaps_total", (name) => {
    const help = "Times that Kafka delivered another event number than the next one";
    return new Counter({ name, help, labelNames: ["group", "topic"], registers });
  });
  const restarts = shared(registry, "feed_restarts_total", (name) => {
    const help = "Partitions read again because the producer was restored";
    return new Counter({ name, help, labelNames: ["group", "topic"], registers });
  });
  const pruned = shared(registry, "feed_pruned_unread_total", (name) => {
    const help = "Events that the feed deleted before the group read them";
    return new Counter({ name, help, labelNames: ["group", "topic"], registers });
  });
  return { reads, repaired, gaps, restarts, pruned };
}
