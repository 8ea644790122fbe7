import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inheritedEnv } from "../config";
import type { ProcessSpec } from "../process/ownedProcess";
import type { KafkaJars } from "./kafkaJars";
import { askForBrokers } from "./kafkaProbe";
import { brokerProperties } from "./kafkaProperties";

export interface KafkaOptions {
  dir: string;
  logFile: string;
  java: string;
  jars: KafkaJars;
  brokerPort: number;
  controllerPort: number;
}

export interface KafkaPart {
  spec: ProcessSpec;
  brokers: string;
}

/** A broker from plain jars, with a heap that fits beside everything else. */
export function prepareKafka({
  dir,
  logFile,
  java,
  jars,
  brokerPort,
  controllerPort,
}: KafkaOptions): KafkaPart {
  const dataDir = join(dir, "data");
  const properties = join(dir, "server.properties");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (!existsSync(join(dataDir, "meta.properties"))) cpSync(jars.template, dataDir, { recursive: true });
  writeFileSync(properties, brokerProperties({ brokerPort, controllerPort, dataDir }));
  const brokers = `127.0.0.1:${brokerPort}`;
  return {
    brokers,
    spec: {
      name: "kafka",
      command: java,
      args: () => [
        ...[
          "-Xms64m",
          "-Xmx256m",
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          "-XX:+ExitOnOutOfMemoryError",
        ],
        ...["-Dlog4j2.level=WARN", "-cp", jars.classPath, "kafka.Kafka", properties],
      ],
      env: inheritedEnv(),
      cwd: dir,
      logFile,
      stopSignal: "SIGTERM",
      stopGraceMs: 15_000,
      readyTimeoutMs: 120_000,
      probe: () => askForBrokers(brokers),
    },
  };
}
