import { createMissing, requireTopics, type TopicAdmin } from "./topics";

const said = (type: string) => Object.assign(new Error(type), { type });
const afterRetries = (type: string) =>
  Object.assign(new Error("given up"), { name: "KafkaJSNumberOfRetriesExceeded", cause: said(type) });

test("a topic of somebody else's without a leader keeps nobody from those that are there", async () => {
  const { admin, created } = cluster({ there: "there", leaderless: "other" });
  await requireTopics(admin, ["there"]);
  await expect(requireTopics(admin, ["there", "missing"])).rejects.toThrow("There is no topic missing");
  await createMissing(admin, [
    { name: "there", partitions: 2 },
    { name: "missing", partitions: 3 },
  ]);
  expect(created).toEqual([{ topic: "missing", numPartitions: 3 }]);
});

test("one of our own without a leader is waited for", async () => {
  const { admin, created } = cluster({ there: "there", leaderless: "ours" });
  await expect(requireTopics(admin, ["there", "ours"])).rejects.toMatchObject({
    name: "KafkaJSNumberOfRetriesExceeded",
  });
  await expect(createMissing(admin, [{ name: "ours", partitions: 1 }])).rejects.toThrow();
  expect(created).toEqual([]);
});

test("whatever else fails is told", async () => {
  const { admin } = cluster({ there: "there" });
  admin.listTopics = () => Promise.reject(said("CLUSTER_AUTHORIZATION_FAILED"));
  await expect(requireTopics(admin, ["there"])).rejects.toThrow("CLUSTER_AUTHORIZATION_FAILED");
});

/** As kafkajs asks one. */
function cluster({ there, leaderless }: { there: string; leaderless?: string }) {
  const created: object[] = [];
  const admin: TopicAdmin = {
    async listTopics() {
      if (leaderless !== undefined) throw afterRetries("LEADER_NOT_AVAILABLE");
      return [there];
    },
    async fetchTopicMetadata({ topics: [name] }) {
      if (name === leaderless) throw afterRetries("LEADER_NOT_AVAILABLE");
      if (name !== there) throw said("UNKNOWN_TOPIC_OR_PARTITION");
    },
    async createTopics({ topics }) {
      created.push(...topics);
      return true;
    },
  };
  return { admin, created };
}
