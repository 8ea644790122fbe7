import { chooseBus, type BusPlan, type KafkaWay } from "./chooseBus";
import type { LocalConfig } from "./config";
import type { Home } from "./home";
import { findDocker } from "./parts/docker";
import { findJava, findMaven } from "./parts/java";
import { prepareKafka, type KafkaPart } from "./parts/kafka";
import { prepareKafkaDocker } from "./parts/kafkaDocker";
import { fetchKafkaJars, kafkaJarsAreCached } from "./parts/kafkaJars";
import { PartError } from "./parts/partError";
import type { StackPorts } from "./ports";
import type { Supervisor } from "./process/supervisor";
import type { Stack } from "./stackFile";

export interface StartedBus {
  bus: Stack["bus"];
  /** Which bus, and why. */
  label: string;
  /** The way to get a better bus. */
  better: string | undefined;
}

interface BusStart {
  config: LocalConfig;
  home: Home;
  ports: StackPorts;
  supervisor: Supervisor;
}

/** Starts the best bus of this machine. A way to Kafka that fails is skipped for the next one. */
export async function startBus(start: BusStart): Promise<StartedBus> {
  const failed = new Map<KafkaWay, string>();
  for (;;) {
    const plan = planBus(start.config, failed);
    try {
      return await run(plan, start);
    } catch (error) {
      if (!(error instanceof PartError) || (plan.kind !== "docker" && plan.kind !== "jars")) throw error;
      failed.set(plan.kind, `${error.what} (${error.why})`);
    }
  }
}

export function planBus(config: LocalConfig, failed: ReadonlyMap<KafkaWay, string> = new Map()): BusPlan {
  const { bus, kafkaBrokers, javaHome, cacheDir } = config;
  return chooseBus({
    wish: bus,
    brokers: kafkaBrokers,
    failed,
    docker: findDocker,
    java: () => findJava(javaHome),
    jars: () => (kafkaJarsAreCached(cacheDir) ? { ok: true, command: cacheDir, version: "" } : findMaven()),
  });
}

async function run(plan: BusPlan, start: BusStart): Promise<StartedBus> {
  const better = undefined;
  switch (plan.kind) {
    case "given":
      return {
        bus: { kind: "kafka", brokers: plan.brokers },
        label: `Kafka at ${plan.brokers} (${plan.why})`,
        better,
      };
    case "feed":
      return {
        bus: { kind: "feed" },
        label: `embedded feed (${plan.why})`,
        better: plan.better,
      };
    case "docker":
    case "jars": {
      const { spec, brokers } = await prepare(plan, start);
      await start.supervisor.run(spec, 1);
      const how = plan.kind === "docker" ? "in Docker" : "from jars";
      return { bus: { kind: "kafka", brokers }, label: `Kafka ${how}, ${brokers} (${plan.why})`, better };
    }
  }
}

async function prepare(
  plan: BusPlan & { kind: KafkaWay },
  { config, home, ports }: BusStart,
): Promise<KafkaPart> {
  const place = { dir: home.part("kafka"), logFile: home.log("kafka"), brokerPort: ports.kafka };
  if (plan.kind === "docker") return prepareKafkaDocker(place);
  const jars = await fetchKafkaJars(config.cacheDir, plan.java);
  return prepareKafka({ ...place, java: plan.java, jars, controllerPort: ports.kafkaController });
}
