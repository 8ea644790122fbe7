import { Kafka, logLevel } from "kafkajs";
import { busConformance } from "./testing/conformance";

const brokers = process.env.WONRAIL_TEST_KAFKA_BROKERS?.split(",");

if (brokers === undefined) {
  // The run says why at its start.
  test.skip("the bus on Kafka", () => undefined);
} else {
  busConformance("Kafka", async () => {
    const admin = new Kafka({ clientId: "conformance", brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    return {
      place: { kind: "kafka", brokers },
      deleteTopic: (topic) => admin.deleteTopics({ topics: [topic] }),
      forgetGroup: async (group) => void (await admin.deleteGroups([group])),
      close: () => admin.disconnect(),
    };
  });
}
