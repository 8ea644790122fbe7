import { randomBytes } from "node:crypto";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readTestConfig } from "@wonrail/local/config";
import { findJava } from "@wonrail/local/parts/java";
import { prepareKafka } from "@wonrail/local/parts/kafka";
import { fetchKafkaJars } from "@wonrail/local/parts/kafkaJars";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { startGuard } from "@wonrail/local/process/guard";
import {
  type OwnedProcess,
  type ProcessSpec,
  signalGroup,
  spawnProcess,
} from "@wonrail/local/process/ownedProcess";

/** The test's own brokers, each with all partitions. The first one is the controller and stays. */
export interface OwnCluster {
  brokers: string[];
  /** Stops a broker in order: it first hands its leaderships over. */
  stop(id: number): Promise<void>;
  signal(id: number, signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void;
  start(id: number): Promise<void>;
  remove(): Promise<void>;
}

/** `advertise` gives the address under which clients reach a broker, such as a proxy's. */
export async function ownCluster(
  size: number,
  advertise = (address: string): Promise<string> => Promise.resolve(address),
): Promise<OwnCluster> {
  const { cacheDir, javaHome } = readTestConfig();
  const java = findJava(javaHome);
  if (!java.ok) throw new Error(java.why);
  const jars = await fetchKafkaJars(cacheDir, java.command);
  const dir = mkdtempSync(join(tmpdir(), "wonrail-own-"));
  const guard = startGuard(dir);
  const controllerPort = await randomFreePort();
  const places: { brokers: string; spec: ProcessSpec }[] = [];
  for (let id = 1; id <= size; id += 1) {
    const home = join(dir, `broker-${id}`);
    const brokerPort = await randomFreePort();
    const logFile = join(dir, `broker-${id}.log`);
    const ports = { brokerPort, controllerPort };
    const { spec, brokers: own } = prepareKafka({ dir: home, logFile, java: java.command, jars, ...ports });
    if (id > 1) assignIdentity(home, id, brokerPort);
    const brokers = await advertise(own);
    const advertised = lines({ "advertised.listeners": `PLAINTEXT://${brokers}` });
    appendFileSync(join(home, "server.properties"), replicationSettings(size) + advertised);
    places.push({ brokers, spec });
  }
  const owned = new Map<number, OwnedProcess>();
  const start = async (id: number): Promise<void> => {
    owned.set(id, await spawnProcess(places[id - 1]!.spec, guard));
  };
  for (const id of places.keys()) await start(id + 1);
  await Promise.all([...owned.values()].map((one) => one.ready()));
  return {
    brokers: places.map(({ brokers }) => brokers),
    stop: async (id) => void (await owned.get(id)!.stop()),
    signal: (id, signal) => signalGroup(owned.get(id)!.pid, signal),
    async start(id) {
      await start(id);
      await owned.get(id)!.ready();
    },
    async remove() {
      for (const { pid } of owned.values()) signalGroup(pid, "SIGKILL");
      await Promise.all([...owned.values()].map((one) => one.exited));
      guard.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The last of repeated properties wins. */
function replicationSettings(size: number): string {
  return lines({
    "default.replication.factor": size,
    "min.insync.replicas": 1,
    "offsets.topic.replication.factor": size,
    "offsets.topic.num.partitions": 5,
  });
}

/** The prepared broker is the first one. */
function assignIdentity(home: string, id: number, brokerPort: number): void {
  const listeners = `PLAINTEXT://127.0.0.1:${brokerPort}`;
  appendFileSync(
    join(home, "server.properties"),
    lines({ "process.roles": "broker", "node.id": id, listeners }),
  );
  const meta = join(home, "data/meta.properties");
  const text = readFileSync(meta, "utf8")
    .replace("node.id=1", `node.id=${id}`)
    .replace(/directory\.id=.*/, `directory.id=${randomBytes(16).toString("base64url").replace(/^-/, "A")}`);
  writeFileSync(meta, text);
}

function lines(properties: Record<string, string | number>): string {
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}
