import type { Log } from "../../log";
import { type Topic, TopicMissingError, TopicRefusedError } from "../port";

/** The part of kafkajs' admin client that is used here. */
export interface TopicAdmin {
  listTopics(): Promise<string[]>;
  fetchTopicMetadata(of: { topics: string[] }): Promise<{ topics: TopicMetadata[] }>;
  createTopics(options: { topics: NewTopic[]; waitForLeaders: boolean }): Promise<boolean>;
  describeConfigs(options: {
    resources: { type: number; name: string; configNames: string[] }[];
    includeSynonyms: boolean;
  }): Promise<{ resources: TopicConfig[] }>;
}

interface TopicMetadata {
  name: string;
  partitions: { partitionId: number; replicas: number[] }[];
}

interface NewTopic {
  topic: string;
  numPartitions: number;
  replicationFactor: number;
  configEntries: { name: string; value: string }[];
}

interface TopicConfig {
  resourceName: string;
  configEntries: { configName: string; configValue: string }[];
}

/** Kafka's number for a topic among its resources. */
const TOPIC_RESOURCE = 2;
/** As long as the feeds keep events. */
const RETENTION_MS = 7 * 86_400_000;

/** Settings of new topics. */
function settingsOf(replication: number): Record<string, string> {
  return {
    "cleanup.policy": "delete",
    "retention.ms": String(RETENTION_MS),
    "retention.bytes": "-1",
    "min.insync.replicas": String(Math.max(1, replication - 1)),
  };
}

export async function createMissing(admin: TopicAdmin, topics: Topic[], replication: number): Promise<void> {
  const missing = await missingOf(admin, topics);
  if (missing.length === 0) return;
  const configEntries = Object.entries(settingsOf(replication)).map(([name, value]) => ({ name, value }));
  await admin.createTopics({
    topics: missing.map(({ name, partitions }) => ({
      topic: name,
      numPartitions: partitions,
      replicationFactor: replication,
      configEntries,
    })),
    waitForLeaders: true,
  });
}

/**
 * Logs each setting of a topic that differs from a new one's. Rejects when the topic has fewer
 * replicas than the deployment requires, or another number of partitions than its feed.
 */
export async function checkTopics(
  admin: TopicAdmin,
  topics: Topic[],
  replication: number,
  log: Log,
): Promise<void> {
  const names = topics.map(({ name }) => name);
  if (names.length === 0) return;
  const metadata = await admin.fetchTopicMetadata({ topics: names });
  for (const { name, partitions } of metadata.topics) {
    const wanted = topics.find((topic) => topic.name === name)!.partitions;
    const least = Math.min(...partitions.map(({ replicas }) => replicas.length));
    if (partitions.length !== wanted)
      throw new TopicRefusedError(`${name} has ${partitions.length} partitions and its feed has ${wanted}.`);
    if (least < replication)
      throw new TopicRefusedError(
        `${name} has ${least} of ${replication} replicas: add replicas, or set KAFKA_REPLICATION to ${least}.`,
      );
  }
  const wanted = settingsOf(replication);
  const { resources } = await admin.describeConfigs({
    resources: names.map((name) => ({ type: TOPIC_RESOURCE, name, configNames: Object.keys(wanted) })),
    includeSynonyms: false,
  });
  for (const { resourceName: topic, configEntries } of resources)
    for (const { configName: setting, configValue: found } of configEntries)
      if (wanted[setting] !== undefined && found !== wanted[setting])
        log.warn(
          { topic, setting, found, wanted: wanted[setting] },
          "a topic has another setting than wanted",
        );
}

export async function requireTopics(admin: TopicAdmin, topics: string[]): Promise<void> {
  const wanted = topics.map((name) => ({ name }));
  const missing = await missingOf(admin, wanted);
  if (missing.length > 0) throw new TopicMissingError(missing.map(({ name }) => name));
}

async function missingOf<T extends { name: string }>(admin: TopicAdmin, wanted: T[]): Promise<T[]> {
  const existing = await listTopics(
    admin,
    wanted.map(({ name }) => name),
  );
  return wanted.filter(({ name }) => !existing.includes(name));
}

/** A partition without a leader fails the list of all topics. Then each topic is listed alone. */
async function listTopics(admin: TopicAdmin, names: string[]): Promise<string[]> {
  try {
    return await admin.listTopics();
  } catch (error) {
    if (typeOf(error) !== "LEADER_NOT_AVAILABLE") throw error;
  }
  const existing: string[] = [];
  for (const name of names) {
    const isThere = await admin.fetchTopicMetadata({ topics: [name] }).then(
      () => true,
      (error: unknown) => {
        if (typeOf(error) !== "UNKNOWN_TOPIC_OR_PARTITION") throw error;
        return false;
      },
    );
    if (isThere) existing.push(name);
  }
  return existing;
}

/** The broker's error type inside of kafkajs' errors. */
export function typeOf(error: unknown): string | undefined {
  const { type, cause } = error as { type?: string; cause?: unknown };
  return type ?? (cause === undefined ? undefined : typeOf(cause));
}
