import { AssignerProtocol, type Consumer, Kafka, logLevel, type PartitionAssigner } from "kafkajs";

/** Joins a group on Kafka as an incompatible member, as soon as the group is empty. */
export async function joinAsStranger(brokers: string[], group: string, topic: string): Promise<Consumer> {
  const kafka = new Kafka({ clientId: "stranger", brokers, logLevel: logLevel.NOTHING });
  const options = { groupId: group, partitionAssigners: [foreignAssigner], maxWaitTimeInMs: 200 };
  for (;;) {
    const stranger = kafka.consumer({ ...options, retry: { retries: 0 } });
    const crashed = new Promise<boolean>((resolve) => {
      stranger.on(stranger.events.CRASH, () => resolve(true));
      stranger.on(stranger.events.GROUP_JOIN, () => resolve(false));
    });
    await stranger.connect();
    await stranger.subscribe({ topics: [topic] });
    await stranger.run({ eachMessage: async () => undefined });
    if (!(await crashed)) return stranger;
    await stranger.disconnect();
  }
}

/** A protocol that no other member speaks: the broker refuses members with another. */
const foreignAssigner: PartitionAssigner = () => ({
  name: "Foreign",
  version: 0,
  assign: async ({ members }) =>
    members.map(({ memberId }) => ({
      memberId,
      memberAssignment: AssignerProtocol.MemberAssignment.encode({
        version: 0,
        assignment: {},
        userData: Buffer.alloc(0),
      }),
    })),
  protocol: ({ topics }) => ({
    name: "Foreign",
    metadata: AssignerProtocol.MemberMetadata.encode({ version: 0, topics, userData: Buffer.alloc(0) }),
  }),
});
