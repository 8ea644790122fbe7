import { containerName, dockerSpec } from "./kafkaDocker";

const spec = dockerSpec({
  dir: "/srv/wonrail/kafka",
  logFile: "/srv/wonrail/logs/kafka.log",
  brokerPort: 7092,
  name: "wonrail-kafka-1",
  brokers: "127.0.0.1:7092",
});

test("the broker listens on this machine only, under its advertised address", () => {
  const args = spec.args();
  expect(args).toContain("127.0.0.1:7092:9092");
  expect(args).toContain("KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:7092");
});

test("the data outlives the container, which is removed with its client", () => {
  expect(spec.args()).toEqual(
    expect.arrayContaining(["--rm", "--volume", "wonrail-kafka-1:/var/lib/kafka/data"]),
  );
});

test("topics are created by their owners, as in a cluster", () => {
  expect(spec.args()).toContain("KAFKA_AUTO_CREATE_TOPICS_ENABLE=false");
});

test("each stack has its own container, the same at every start", () => {
  expect(containerName("/a/kafka")).toBe(containerName("/a/kafka"));
  expect(containerName("/a/kafka")).not.toBe(containerName("/b/kafka"));
});
