import type { PartitionLag } from "../bus/port";
import { Counter, DURATION_BUCKETS_SECONDS, Gauge, Histogram, shared, type Registry } from "../metrics";

/** `skipped`: of a type that this consumer has no use for. `retried`: an attempt that is made again, so one message may count several. */
export type MessageOutcome = "processed" | "duplicate" | "skipped" | "retried" | "dead";

export interface ConsumerMetrics {
  count(topic: string, outcome: MessageOutcome, messages?: number): void;
  batchTook(seconds: number): void;
  /** Those that are not among them are not told of any more: none, while the bus cannot be asked. */
  lag(partitions: PartitionLag[]): void;
}

export function consumerMetrics(registry: Registry, group: string): ConsumerMetrics {
  const registers = [registry];
  const messages = shared(registry, "consumer_messages_total", (name) => {
    const labelNames = ["group", "topic", "outcome"];
    return new Counter({ name, help: "Messages by what became of them", labelNames, registers });
  });
  const dead = shared(registry, "dead_letters_total", (name) => {
    const help = "Messages that could not be worked on and were put aside";
    return new Counter({ name, help, labelNames: ["group", "topic"], registers });
  });
  const processing = shared(registry, "consumer_processing_seconds", (name) => {
    const help = "How long a batch of messages took, to its commit";
    return new Histogram({ name, help, labelNames: ["group"], buckets: DURATION_BUCKETS_SECONDS, registers });
  });
  const labelNames = ["group", "topic", "partition"];
  const lagMessages = shared(registry, "consumer_lag_messages", (name) => {
    return new Gauge({
      name,
      help: "Messages that the group has not done yet; absent while not known",
      labelNames,
      registers,
    });
  });
  const lagSeconds = shared(registry, "consumer_lag_seconds", (name) => {
    return new Gauge({
      name,
      help: "Age of the oldest message that the group has not done yet; absent while not known",
      labelNames,
      registers,
    });
  });
  let told: PartitionLag[] = [];
  return {
    count(topic, outcome, count = 1) {
      messages.inc({ group, topic, outcome }, count);
      if (outcome === "dead") dead.inc({ group, topic }, count);
    },
    batchTook: (seconds) => processing.observe({ group }, seconds),
    lag(partitions) {
      for (const { topic, partition } of told) {
        lagMessages.remove({ group, topic, partition });
        lagSeconds.remove({ group, topic, partition });
      }
      told = partitions;
      for (const { topic, partition, messages: behind, oldestAgeMs } of partitions) {
        lagMessages.set({ group, topic, partition }, behind);
        lagSeconds.set({ group, topic, partition }, oldestAgeMs / 1000);
      }
    },
  };
}
