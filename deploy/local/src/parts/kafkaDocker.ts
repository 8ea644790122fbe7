import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { inheritedEnv } from "../config";
import type { ProcessSpec } from "../process/ownedProcess";
import { runCommand } from "../process/runCommand";
import { askForBrokers } from "./kafkaProbe";
import type { KafkaPart } from "./kafka";
import { PartError } from "./partError";

const IMAGE = "apache/kafka:4.1.1";
const PULL_TIMEOUT_MS = 300_000;
const INSIDE = { broker: 9092, controller: 9093 };

/** A broker in the official image, in the foreground of our own docker client. */
export async function prepareKafkaDocker(options: {
  dir: string;
  logFile: string;
  brokerPort: number;
}): Promise<KafkaPart> {
  mkdirSync(options.dir, { recursive: true });
  await pullImage();
  const brokers = `127.0.0.1:${options.brokerPort}`;
  return { brokers, spec: dockerSpec({ ...options, name: containerName(options.dir), brokers }) };
}

/** Each stack has its own container and volume. */
export function containerName(dir: string): string {
  return `wonrail-kafka-${createHash("sha256").update(dir).digest("hex").slice(0, 12)}`;
}

export async function removeKafkaDocker(dir: string): Promise<void> {
  const name = containerName(dir);
  await runCommand("docker", ["rm", "--force", name]);
  await runCommand("docker", ["volume", "rm", "--force", name]);
}

interface DockerBroker {
  dir: string;
  logFile: string;
  brokerPort: number;
  name: string;
  brokers: string;
}

export function dockerSpec({ dir, logFile, brokerPort, name, brokers }: DockerBroker): ProcessSpec {
  const settings = {
    KAFKA_NODE_ID: "1",
    KAFKA_PROCESS_ROLES: "broker,controller",
    KAFKA_LISTENERS: `PLAINTEXT://:${INSIDE.broker},CONTROLLER://:${INSIDE.controller}`,
    KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://${brokers}`,
    KAFKA_CONTROLLER_LISTENER_NAMES: "CONTROLLER",
    KAFKA_CONTROLLER_QUORUM_VOTERS: `1@localhost:${INSIDE.controller}`,
    KAFKA_AUTO_CREATE_TOPICS_ENABLE: "false",
    KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: "1",
    KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: "1",
    KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: "1",
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: "0",
    KAFKA_LOG_DIRS: "/var/lib/kafka/data",
    KAFKA_HEAP_OPTS: "-Xms64m -Xmx256m",
  };
  return {
    name: "kafka",
    command: "docker",
    args: () => [
      ...["run", "--rm", "--name", name, "--publish", `127.0.0.1:${brokerPort}:${INSIDE.broker}`],
      ...["--volume", `${name}:/var/lib/kafka/data`],
      ...Object.entries(settings).flatMap(([key, text]) => ["--env", `${key}=${text}`]),
      IMAGE,
    ],
    env: inheritedEnv(),
    cwd: dir,
    logFile,
    stopSignal: "SIGTERM",
    stopGraceMs: 20_000,
    readyTimeoutMs: 90_000,
    // A killed client leaves its container running, with the port.
    beforeSpawn: async () => void (await runCommand("docker", ["rm", "--force", name])),
    probe: () => askForBrokers(brokers),
  };
}

async function pullImage(): Promise<void> {
  if ((await runCommand("docker", ["image", "inspect", IMAGE])).ok) return;
  const { ok, problem } = await runCommand("docker", ["pull", IMAGE], { timeoutMs: PULL_TIMEOUT_MS });
  if (ok) return;
  const next = "see that Docker reaches its registry, or do without Kafka: WONRAIL_BUS=feed.";
  throw new PartError(`the image ${IMAGE} could not be pulled`, problem, next);
}
