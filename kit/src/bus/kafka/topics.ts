import { type Topic, TopicMissingError } from "../port";

/** What it takes of kafkajs' admin client. */
export interface TopicAdmin {
  listTopics(): Promise<string[]>;
  fetchTopicMetadata(of: { topics: string[] }): Promise<unknown>;
  createTopics(options: {
    topics: { topic: string; numPartitions: number }[];
    waitForLeaders: boolean;
  }): Promise<boolean>;
}

export async function createMissing(admin: TopicAdmin, topics: Topic[]): Promise<void> {
  const missing = await missingOf(admin, topics);
  if (missing.length === 0) return;
  await admin.createTopics({
    topics: missing.map(({ name, partitions }) => ({ topic: name, numPartitions: partitions })),
    waitForLeaders: true,
  });
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

/** A partition without a leader, of anybody's topic, fails the list of all; then ours are asked for, each by itself. */
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

/** What the broker said, however often kafkajs has asked. */
export function typeOf(error: unknown): string | undefined {
  const { type, cause } = error as { type?: string; cause?: unknown };
  return type ?? (cause === undefined ? undefined : typeOf(cause));
}
