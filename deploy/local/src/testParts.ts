/**
 * The real parts of integration tests in their own process, started by e2e/setup/startParts.js. The
 * first line of output holds the variables to set. The parts end when standard input closes, so a
 * killed test run leaves nothing.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readTestConfig, type TestConfig } from "./config";
import { anvilBinary } from "./parts/anvil";
import { findDocker } from "./parts/docker";
import { findJava, findMaven } from "./parts/java";
import { prepareKafka } from "./parts/kafka";
import { fetchKafkaJars, kafkaJarsAreCached } from "./parts/kafkaJars";
import { preparePostgres } from "./parts/postgres";
import { randomFreePort } from "./process/freePort";
import { startGuard, type Guard } from "./process/guard";
import { startProcess } from "./process/ownedProcess";

interface TestPart {
  env: Record<string, string>;
  label: string;
  stop(): Promise<void>;
}

interface Place {
  config: TestConfig;
  dir: string;
  guard: Guard;
  docker: boolean;
}

const START_ATTEMPTS = 3;

async function main(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "wonrail-test-"));
  chmodSync(dir, 0o711); // PostgreSQL may run as another user, which needs access.
  const place: Place = { config: readTestConfig(), dir, guard: startGuard(dir), docker: findDocker().ok };
  const parts: TestPart[] = [];
  const stop = async (): Promise<void> => {
    await Promise.allSettled(parts.map((part) => part.stop()));
    place.guard.close();
    rmSync(dir, { recursive: true, force: true });
  };
  process.stdin.resume().once("close", () => void stop().then(() => process.exit(0)));
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    process.on(signal, () => process.stdin.destroy());
  try {
    const started = await Promise.allSettled([postgres(place), kafka(place)]);
    for (const result of started) if (result.status === "fulfilled") parts.push(result.value);
    for (const result of started) if (result.status === "rejected") throw result.reason;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    await stop();
    process.exit(1);
  }
  const env = Object.assign(
    { WONRAIL_TEST_ANVIL_BIN: anvilBinary() },
    ...parts.map((part) => part.env),
  ) as Record<string, string>;
  process.stdout.write(`${JSON.stringify({ env, labels: parts.map((part) => part.label) })}\n`);
}

async function postgres(place: Place): Promise<TestPart> {
  const { postgresUrl } = place.config;
  if (postgresUrl !== undefined) return given("PostgreSQL given by WONRAIL_TEST_POSTGRES_URL");
  if (place.docker) return (await import("./testContainers.js")).containerPostgres();
  return withNewPorts(async () => {
    const part = await preparePostgres({
      dir: join(place.dir, "postgres"),
      logFile: join(place.dir, "postgres.log"),
      port: await randomFreePort(),
      password: randomBytes(16).toString("hex"),
      durable: false,
      maxConnections: 200,
    });
    const owned = await startProcess(part.spec, place.guard);
    const env = { WONRAIL_TEST_POSTGRES_URL: part.adminUrl };
    return {
      env,
      label: `${part.label}, started for this run`,
      stop: async () => {
        await owned.stop();
        rmSync(part.dataDir, { recursive: true, force: true });
      },
    };
  });
}

async function kafka(place: Place): Promise<TestPart> {
  const { kafkaBrokers, javaHome, cacheDir, bus } = place.config;
  if (kafkaBrokers !== undefined) return given("Kafka given by WONRAIL_TEST_KAFKA_BROKERS");
  if (bus === "feed") return withoutKafka("WONRAIL_BUS=feed asks for the embedded feed only");
  if (place.docker) return (await import("./testContainers.js")).containerKafka();
  const java = findJava(javaHome);
  if (!java.ok) return withoutKafka(java.why);
  const maven = findMaven();
  if (!kafkaJarsAreCached(cacheDir) && !maven.ok) return withoutKafka(maven.why);
  const jars = await fetchKafkaJars(cacheDir, java.command);
  return withNewPorts(async () => {
    const dir = join(place.dir, "kafka");
    const [brokerPort, controllerPort] = [await randomFreePort(), await randomFreePort()];
    const logFile = join(place.dir, "kafka.log");
    const part = prepareKafka({ dir, logFile, java: java.command, jars, brokerPort, controllerPort });
    const owned = await startProcess(part.spec, place.guard);
    const env = { WONRAIL_TEST_KAFKA_BROKERS: part.brokers };
    return {
      env,
      label: `Kafka from jars on Java ${java.version}, started for this run`,
      stop: async () => void (await owned.stop()),
    };
  });
}

function given(label: string): TestPart {
  return { env: {}, label, stop: async () => undefined };
}

function withoutKafka(why: string): TestPart {
  return {
    env: { WONRAIL_TEST_KAFKA_SKIPPED: why },
    label: `no Kafka (${why})`,
    stop: async () => undefined,
  };
}

/** Another test run may take the port between our look and the start. */
async function withNewPorts(start: () => Promise<TestPart>): Promise<TestPart> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

void main();
