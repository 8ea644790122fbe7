import { chooseBus, type BusFacts, type KafkaWay } from "./chooseBus";
import { PartError } from "./parts/partError";

const here = (version: string) => () => ({ ok: true, command: "java", version }) as const;
const absent = (why: string) => () => ({ ok: false, why }) as const;

const bare: BusFacts = {
  wish: undefined,
  brokers: undefined,
  failed: new Map<KafkaWay, string>(),
  docker: absent("there is no Docker"),
  java: absent("there is no Java"),
  jars: absent("there is no Maven"),
};

test("prefers running brokers", () => {
  const plan = chooseBus({ ...bare, brokers: "kafka.example:9092", docker: here("27.0") });
  expect(plan).toEqual({ kind: "given", brokers: "kafka.example:9092", why: "KAFKA_BROKERS is set" });
});

test("prefers a Docker engine to Java", () => {
  const plan = chooseBus({ ...bare, docker: here("27.0"), java: here("17.0.1"), jars: here("") });
  expect(plan).toEqual({ kind: "docker", why: "a Docker engine 27.0 answers" });
});

test("takes Java with jars next, and says why Docker is not used", () => {
  const plan = chooseBus({ ...bare, java: here("17.0.1"), jars: here("") });
  expect(plan).toEqual({ kind: "jars", java: "java", why: "Java 17.0.1; there is no Docker" });
});

test("skips Java without a source for the jars", () => {
  const plan = chooseBus({ ...bare, java: here("17.0.1") });
  expect(plan).toMatchObject({ kind: "feed", why: "there is no Docker, there is no Maven" });
});

test("chooses the embedded feed on a bare machine, and names the ways to get Kafka", () => {
  const plan = chooseBus(bare);
  expect(plan).toMatchObject({ kind: "feed", why: "there is no Docker, there is no Java" });
  expect(plan).toHaveProperty("better", expect.stringContaining("apt-get install openjdk-17"));
});

test("skips a way that failed in this start, and names its reason", () => {
  const failed = new Map<KafkaWay, string>([["docker", "the image could not be pulled"]]);
  const plan = chooseBus({ ...bare, failed, docker: here("27.0"), java: here("17.0.1"), jars: here("") });
  expect(plan).toEqual({ kind: "jars", java: "java", why: "Java 17.0.1; the image could not be pulled" });
});

test("chooses the embedded feed on request, although Docker and Java exist", () => {
  const plan = chooseBus({ ...bare, wish: "feed", brokers: "kafka.example:9092", docker: here("27.0") });
  expect(plan).toEqual({ kind: "feed", why: "you asked for it", better: undefined });
});

test("refuses Kafka on a bare machine instead of choosing another bus", () => {
  expect(() => chooseBus({ ...bare, wish: "kafka" })).toThrow(PartError);
});
