import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KafkaBusOptions } from "@wonrail/kit/bus";
import { readTestConfig } from "@wonrail/local/config";
import { findJava, findMaven } from "@wonrail/local/parts/java";
import { prepareKafka } from "@wonrail/local/parts/kafka";
import { fetchKafkaJars, kafkaJarsAreCached } from "@wonrail/local/parts/kafkaJars";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { type Guard, startGuard } from "@wonrail/local/process/guard";
import {
  type OwnedProcess,
  type ProcessSpec,
  signalGroup,
  startProcess,
} from "@wonrail/local/process/ownedProcess";

type Place = Pick<KafkaBusOptions, "brokers" | "replication">;

/** A broker of the test's own, which may be killed. */
export interface OwnServer {
  place: Place;
  /** As the machine's power going, for everything but the machine. */
  kill(): Promise<void>;
  /** Keeps the process but answers nothing until it is thawed. */
  freeze(): void;
  thaw(): void;
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** Undefined, with the reason, where this machine has no Java and Maven. */
export function missingKafkaReason(): string | undefined {
  const { cacheDir, javaHome } = readTestConfig();
  const java = findJava(javaHome);
  if (!java.ok) return java.why;
  const maven = findMaven();
  return maven.ok || kafkaJarsAreCached(cacheDir) ? undefined : maven.why;
}

export async function ownKafka(): Promise<OwnServer> {
  const { cacheDir, javaHome } = readTestConfig();
  const java = findJava(javaHome);
  if (!java.ok) throw new Error(java.why);
  const jars = await fetchKafkaJars(cacheDir, java.command);
  return ownServer(async (dir) => {
    const [brokerPort, controllerPort] = [await randomFreePort(), await randomFreePort()];
    const logFile = join(dir, "kafka.log");
    const { brokers, spec } = prepareKafka({
      dir,
      logFile,
      java: java.command,
      jars,
      brokerPort,
      controllerPort,
    });
    return { spec, place: { brokers: [brokers], replication: 1 } };
  });
}

async function ownServer(
  prepare: (dir: string) => Promise<{ spec: ProcessSpec; place: Place; dataDir?: string }>,
): Promise<OwnServer> {
  const dir = mkdtempSync(join(tmpdir(), "wonrail-own-"));
  const guard: Guard = startGuard(dir);
  const { spec, place, dataDir } = await prepare(dir);
  let owned: OwnedProcess = await startProcess(spec, guard);
  return {
    place,
    async kill() {
      signalGroup(owned.pid, "SIGKILL");
      await owned.exited;
    },
    freeze: () => signalGroup(owned.pid, "SIGSTOP"),
    thaw: () => signalGroup(owned.pid, "SIGCONT"),
    async start() {
      owned = await startProcess(spec, guard);
    },
    async remove() {
      await owned.stop();
      guard.close();
      for (const folder of [dir, dataDir])
        if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
