import { containerName, dockerSpec } from "./kafkaDocker";

const spec = dockerSpec({
  dir: "/srv/wonrail/kafka",
  logFile: "/srv/wonrail/logs/kafka.log",
  brokerPort: 7092,
  name: "wonrail-kafka-1",
  brokers: "127.0.0.1:7092",
});

test("the broker is reachable from this machine only, under the address that it gives its clients", () => {
  const args = spec.args();
  expect(args).toContain("127.0.0.1:7092:9092");
  expect(args).toContain("KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:7092");
});

test("the data outlives the container, which goes with its client", () => {
  expect(spec.args()).toEqual(
    expect.arrayContaining(["--rm", "--volume", "wonrail-kafka-1:/var/lib/kafka/data"]),
  );
});

test("topics are made by those who own them, as everywhere", () => {
  expect(spec.args()).toContain("KAFKA_AUTO_CREATE_TOPICS_ENABLE=false");
});

test("each stack has a container of its own, the same at every start", () => {
  expect(containerName("/a/kafka")).toBe(containerName("/a/kafka"));
  expect(containerName("/a/kafka")).not.toBe(containerName("/b/kafka"));
});
