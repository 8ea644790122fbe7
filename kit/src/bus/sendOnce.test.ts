import { groupBy } from "../groupBy";
import { SEND_ONCE } from "./kafka";

/** kafkajs' send, on a cluster that the test controls. */
type Send = (batch: {
  acks: number;
  timeout: number;
  topicMessages: { topic: string; messages: { value: string; partition: number }[] }[];
}) => Promise<unknown>;

/* oxlint-disable typescript/no-require-imports -- kafkajs' own parts, which it has no types for */
const createSend = require("kafkajs/src/producer/sendMessages") as (parts: object) => Send;
const createRetry = require("kafkajs/src/retry") as (options: object) => unknown;
/* oxlint-enable typescript/no-require-imports */

const FEW = { ...SEND_ONCE, retries: 2, initialRetryTime: 1 };

test("a message that moves to a broker which already answered fails instead of counting as sent", async () => {
  const { send, stored } = movingCluster(SEND_ONCE);
  await expect(send).rejects.toThrow();
  expect(stored).toEqual(["first"]);
});

test("kafkajs' own retries acknowledge unsent messages: keep them disabled while this test passes", async () => {
  const { send, stored } = movingCluster(FEW);
  await send;
  expect(stored).toEqual(["first"]);
});

/**
 * Two partitions with a broker each. When one broker has answered, the other's partition moves to
 * it.
 */
function movingCluster(retry: object): { send: Promise<unknown>; stored: string[] } {
  const stored: string[] = [];
  const leaders = ["1", "2"];
  const answering = {
    nodeId: "1",
    async produce({ topicData }: Produced) {
      for (const { partitions } of topicData)
        for (const { messages } of partitions) stored.push(...messages.map(({ value }) => value));
      return { topics: [{ topicName: "topic", partitions: [{ partition: 0, errorCode: 0 }] }] };
    },
  };
  const moving = {
    nodeId: "2",
    async produce() {
      leaders[1] = "1";
      throw Object.assign(new Error("not the leader"), { type: "NOT_LEADER_FOR_PARTITION", retriable: true });
    },
  };
  const cluster = {
    addMultipleTargetTopics: nothing,
    refreshMetadata: nothing,
    refreshMetadataIfNecessary: nothing,
    isConnected: () => true,
    findTopicPartitionMetadata: () => leaders.map((leader, partitionId) => ({ partitionId, leader })),
    findLeaderForPartitions: (_: string, partitions: string[]) =>
      Object.fromEntries(groupBy(partitions.map(Number), (partition) => leaders[partition]!)),
    findBroker: async ({ nodeId }: { nodeId: string }) => (nodeId === "1" ? answering : moving),
  };
  const eosManager = {
    acquireBrokerLock: nothing,
    releaseBrokerLock: nothing,
    isTransactional: () => false,
    getSequence: () => 0,
    updateSequence: () => undefined,
    getProducerId: () => -1,
    getProducerEpoch: () => 0,
  };
  const say = () => undefined;
  const send = createSend({
    logger: { debug: say, error: say, warn: say, info: say },
    ...{ cluster, eosManager, retrier: createRetry(retry) },
    partitioner: ({ message }: { message: { partition: number } }) => message.partition,
  });
  const messages = ["first", "second"].map((value, partition) => ({ value, partition }));
  return { send: send({ acks: -1, timeout: 1_000, topicMessages: [{ topic: "topic", messages }] }), stored };
}

interface Produced {
  topicData: { partitions: { messages: { value: string }[] }[] }[];
}

async function nothing(): Promise<void> {}
