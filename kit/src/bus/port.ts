import type { ConnectionOptions } from "node:tls";
import type { Log } from "../log";
import type { Registry } from "../metrics";

/**
 * Limit of key, value and headers together. Kafka accepts 1 MiB per partition and request, with its
 * framing.
 */
export const MAX_MESSAGE_BYTES = 900 * 1024;

export const DEFAULT_MAX_BATCH = 500;

/** The message can never be published. */
export class MessageRefusedError extends Error {
  override readonly name = "MessageRefusedError";
}

/**
 * The topic's settings would lose events, or do not fit its feed. An operator must change the
 * topic.
 */
export class TopicRefusedError extends Error {
  override readonly name = "TopicRefusedError";
}

export class TopicMissingError extends Error {
  override readonly name = "TopicMissingError";
  /** In kafkajs' form: the publisher may create the topic soon. */
  readonly retriable = true;

  constructor(topics: string[]) {
    super(`There is no topic ${topics.join(", ")}. Its publisher makes it with ensureTopics.`);
  }
}

/** Messages of one partition stay in order. The publisher chooses the partition. */
export interface BusMessage {
  topic: string;
  partition: number;
  key: string;
  value: Buffer;
  headers: Record<string, string>;
}

export interface ReceivedMessage extends BusMessage {
  offset: string;
}

/** A service's feed, and the Kafka topic of the same name. */
export interface Topic {
  name: string;
  partitions: number;
}

export interface SubscribeOptions {
  /** Consumers with the same group share the partitions; each group sees every message. */
  group: string;
  topics: string[];
  /**
   * Receives messages of one partition, in order. If it rejects, the messages come again after a
   * pause. A handled message may come again: the handler must recognise it.
   */
  handleBatch: (messages: ReceivedMessage[]) => Promise<void>;
  maxBatch?: number;
  /** The consumer stopped for good: close it and subscribe another. */
  onCrash?: (error: Error) => void;
  /** Ends the waiting, until there is a subscription to be closed. */
  signal?: AbortSignal;
}

export interface ReadOnce {
  topic: string;
  /** Messages that Kafka stored at this time or later. */
  since: Date;
  handle: (message: ReceivedMessage) => Promise<void>;
}

export interface Subscription {
  /** Waits for the running batch, commits it and leaves the group. */
  close(): Promise<void>;
  /** False when the consumer has stopped moving without a reason. */
  live(): boolean;
}

/**
 * Kafka as a fast transport of events. It may lose, repeat and reorder messages: consumers compare
 * the numbers with their cursors and read the producer's feed.
 */
export interface Bus {
  /**
   * Creates missing topics, and checks the settings of existing ones. Waits a minute for absent
   * brokers. Rejects with a TopicRefusedError when a topic is unsafe.
   */
  ensureTopics(topics: Topic[], signal?: AbortSignal): Promise<void>;
  /**
   * Resolves when every message is stored. After a rejection any part of them may be stored. Refuses a
   * message over MAX_MESSAGE_BYTES with a MessageRefusedError before it sends anything.
   */
  publish(messages: BusMessage[]): Promise<void>;
  /** Waits a minute for topics that do not exist yet. A new group starts at the oldest message. */
  subscribe(options: SubscribeOptions): Promise<Subscription>;
  close(): Promise<void>;
}

export interface KafkaBusOptions {
  clientId: string;
  log: Log;
  registry?: Registry;
  brokers: string[];
  /** How many brokers keep each topic. A topic that has fewer is refused. */
  replication: number;
  ssl?: boolean | ConnectionOptions;
  sasl?: KafkaCredentials;
}

export interface KafkaCredentials {
  mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
  username: string;
  password: string;
}
