import type { ConnectionOptions } from "node:tls";
import type { Log } from "../log";
import type { Registry } from "../metrics";

/** Key, value and headers together. Kafka takes 1 MiB for all that one request adds to a partition; the rest is for its framing. */
export const MAX_MESSAGE_BYTES = 900 * 1024;

export const DEFAULT_MAX_BATCH = 500;

/** The message can never be published, however often it is tried. */
export class MessageRefusedError extends Error {
  override readonly name = "MessageRefusedError";
}

export class TopicMissingError extends Error {
  override readonly name = "TopicMissingError";
  /** As kafkajs marks its own errors: the topic's publisher may be about to make it. */
  readonly retriable = true;

  constructor(topics: string[]) {
    super(`There is no topic ${topics.join(", ")}. Its publisher makes it with ensureTopics.`);
  }
}

/** What is published: the key decides the partition, and messages of one key stay in order. */
export interface BusMessage {
  topic: string;
  key: string;
  value: Buffer;
  headers: Record<string, string>;
}

export interface ReceivedMessage extends BusMessage {
  partition: number;
  offset: string;
  timestampMs: number;
}

export interface Topic {
  name: string;
  partitions: number;
}

export interface SubscribeOptions {
  /** Consumers with the same group share the partitions; each group sees every message. */
  group: string;
  topics: string[];
  /**
   * Called with messages that are in order within each partition. When it resolves they are done; when it rejects they come again. A message
   * may come more than once, also after it was done: whoever handles it must recognise it.
   */
  handleBatch: (messages: ReceivedMessage[]) => Promise<void>;
  maxBatch?: number;
  /** The consumer stopped and will not come back by itself: it has to be closed, and another subscribed. */
  onCrash?: (error: Error) => void;
  /** Ends the waiting, until there is a subscription to be closed. */
  signal?: AbortSignal;
}

export interface Subscription {
  /** Waits for the batch in hand, commits it and leaves the group. */
  close(): Promise<void>;
  /** False when the consumer has stopped moving although it should not have. */
  live(): boolean;
}

export interface PartitionLag {
  topic: string;
  partition: number;
  messages: number;
  /** Age of the oldest message that the group has not done; 0 when there is none. */
  oldestAgeMs: number;
}

/** The event bus as this product needs it. Delivery is at least once, in order per key. */
export interface Bus {
  readonly kind: "kafka" | "postgres";
  /** Makes the topics that do not exist yet; one that exists keeps its partitions. Waits a minute for a server that is not there yet, or until the signal. */
  ensureTopics(topics: Topic[], signal?: AbortSignal): Promise<void>;
  /**
   * Resolves when every message is stored. After a rejection any part of them may be stored: publish them again, before anything newer
   * of the same keys, and their order holds. A message over MAX_MESSAGE_BYTES is refused with a MessageRefusedError before anything is sent.
   */
  publish(messages: BusMessage[]): Promise<void>;
  /** Waits a minute for topics that do not exist yet. A group that is new, or whose positions are lost, starts at the oldest message. */
  subscribe(options: SubscribeOptions): Promise<Subscription>;
  lag(group: string, topics: string[]): Promise<PartitionLag[]>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface CommonOptions {
  clientId: string;
  log: Log;
  registry?: Registry;
}

export interface KafkaBusOptions extends CommonOptions {
  kind: "kafka";
  brokers: string[];
  ssl?: boolean | ConnectionOptions;
  sasl?: KafkaCredentials;
}

export interface KafkaCredentials {
  mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
  username: string;
  password: string;
}

export interface PostgresBusOptions extends CommonOptions {
  kind: "postgres";
  url: string;
}

export type BusOptions = KafkaBusOptions | PostgresBusOptions;
