import { type Topic, TopicMissingError } from "../port";

interface Admin {
  listTopics(): Promise<string[]>;
  createTopics(options: {
    topics: { topic: string; numPartitions: number }[];
    waitForLeaders: boolean;
  }): Promise<boolean>;
}

export async function createMissing(admin: Admin, topics: Topic[]): Promise<void> {
  const existing = await admin.listTopics();
  const missing = topics.filter(({ name }) => !existing.includes(name));
  if (missing.length === 0) return;
  await admin.createTopics({
    topics: missing.map(({ name, partitions }) => ({ topic: name, numPartitions: partitions })),
    waitForLeaders: true,
  });
}

export async function requireTopics(admin: Admin, topics: string[]): Promise<void> {
  const existing = await admin.listTopics();
  const missing = topics.filter((topic) => !existing.includes(topic));
  if (missing.length > 0) throw new TopicMissingError(missing);
}
