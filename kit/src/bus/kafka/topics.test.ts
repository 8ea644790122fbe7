import { checkTopics, createMissing, requireTopics, type TopicAdmin } from "./topics";

const errorOf = (type: string) => Object.assign(new Error(type), { type });
const afterRetries = (type: string) =>
  Object.assign(new Error("given up"), { name: "KafkaJSNumberOfRetriesExceeded", cause: errorOf(type) });

test("a topic without a leader does not hide the other topics", async () => {
  const { admin, created } = cluster({ there: "there", leaderless: "other" });
  await requireTopics(admin, ["there"]);
  await expect(requireTopics(admin, ["there", "missing"])).rejects.toThrow("There is no topic missing");
  const topics = [
    { name: "there", partitions: 2 },
    { name: "missing", partitions: 3 },
  ];
  await createMissing(admin, topics, 3);
  expect(created).toMatchObject([{ topic: "missing", numPartitions: 3, replicationFactor: 3 }]);
});

test("a wanted topic without a leader is a retryable error", async () => {
  const { admin, created } = cluster({ there: "there", leaderless: "ours" });
  await expect(requireTopics(admin, ["there", "ours"])).rejects.toMatchObject({
    name: "KafkaJSNumberOfRetriesExceeded",
  });
  await expect(createMissing(admin, [{ name: "ours", partitions: 1 }], 3)).rejects.toThrow();
  expect(created).toEqual([]);
});

test("a different setting is logged by name", async () => {
  const { admin } = cluster({ there: "there" });
  const log = { warn: jest.fn() };
  await checkTopics(admin, [{ name: "there", partitions: 1 }], 2, log as never);
  expect(log.warn.mock.calls).toEqual([
    [
      { topic: "there", setting: "retention.ms", found: "1000", wanted: "604800000" },
      "a topic has another setting than wanted",
    ],
  ]);
});

test.each([
  ["too few replicas", { name: "there", partitions: 1 }, 3, "there has 2 of 3 replicas"],
  [
    "another number of partitions",
    { name: "there", partitions: 6 },
    2,
    "there has 1 partitions and its feed has 6",
  ],
])("a topic with %s is refused", async (_name, topic, replication, message) => {
  const { admin } = cluster({ there: "there" });
  await expect(checkTopics(admin, [topic], replication, {} as never)).rejects.toThrow(message);
});

test("other errors are rejected", async () => {
  const { admin } = cluster({ there: "there" });
  admin.listTopics = () => Promise.reject(errorOf("CLUSTER_AUTHORIZATION_FAILED"));
  await expect(requireTopics(admin, ["there"])).rejects.toThrow("CLUSTER_AUTHORIZATION_FAILED");
});

function cluster({ there, leaderless }: { there: string; leaderless?: string }) {
  const created: object[] = [];
  const admin: TopicAdmin = {
    async listTopics() {
      if (leaderless !== undefined) throw afterRetries("LEADER_NOT_AVAILABLE");
      return [there];
    },
    async fetchTopicMetadata({ topics: [name] }) {
      if (name === leaderless) throw afterRetries("LEADER_NOT_AVAILABLE");
      if (name !== there) throw errorOf("UNKNOWN_TOPIC_OR_PARTITION");
      return { topics: [{ name: there, partitions: [{ partitionId: 0, replicas: [1, 2] }] }] };
    },
    async describeConfigs() {
      const configEntries = [
        { configName: "retention.ms", configValue: "1000" },
        { configName: "cleanup.policy", configValue: "delete" },
      ];
      return { resources: [{ resourceName: there, configEntries }] };
    },
    async createTopics({ topics }) {
      created.push(...topics);
      return true;
    },
  };
  return { admin, created };
}
