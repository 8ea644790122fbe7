import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../process/runCommand";
import { findMaven } from "./java";
import { brokerProperties } from "./kafkaProperties";
import { PartError } from "./partError";

const POM = join(__dirname, "../../kafka/pom.xml");

export interface KafkaJars {
  classPath: string;
  /** A formatted, empty storage folder to copy for each new broker. */
  template: string;
}

/** True when a broker can start without Maven and without a network. */
export function kafkaJarsAreCached(cacheDir: string): boolean {
  return existsSync(versionFolder(cacheDir));
}

/** Fetches the jars once per version of the pom; later calls are local. */
export async function fetchKafkaJars(cacheDir: string, java: string): Promise<KafkaJars> {
  const folder = versionFolder(cacheDir);
  if (!existsSync(folder)) await fill(folder, java);
  return { classPath: classPathOf(folder), template: join(folder, "template") };
}

function versionFolder(cacheDir: string): string {
  const hash = createHash("sha256").update(readFileSync(POM)).digest("hex").slice(0, 12);
  return join(cacheDir, `kafka-${hash}`);
}

function classPathOf(folder: string): string {
  const lib = join(folder, "lib");
  return readdirSync(lib)
    .sort()
    .map((jar) => join(lib, jar))
    .join(":");
}

/**
 * Fills a temporary folder and renames it when complete, so that concurrent starts and interrupted
 * downloads are harmless.
 */
async function fill(folder: string, java: string): Promise<void> {
  const maven = findMaven();
  if (!maven.ok)
    throw new PartError(
      "Kafka's jars are not installed",
      maven.why,
      "install Maven (Debian: apt-get install maven), once.",
    );
  const unfinished = `${folder}.${process.pid}.${randomBytes(4).toString("hex")}`;
  mkdirSync(unfinished, { recursive: true });
  const goals = [
    "dependency:copy-dependencies",
    `-DoutputDirectory=${join(unfinished, "lib")}`,
    "-DincludeScope=runtime",
  ];
  await run(maven.command, ["-q", "-B", "-f", POM, ...goals], "Kafka's jars could not be fetched");
  await format(java, unfinished);
  try {
    renameSync(unfinished, folder);
  } catch {
    rmSync(unfinished, { recursive: true, force: true }); // Another start was quicker.
  }
}

/** Voters are static and named by port, which formatting does not write. */
async function format(java: string, folder: string): Promise<void> {
  const template = join(folder, "template");
  const properties = join(folder, "format.properties");
  writeFileSync(properties, brokerProperties({ brokerPort: 1, controllerPort: 2, dataDir: template }));
  const clusterId = `W${randomBytes(16).toString("base64url").slice(1)}`; // Never a leading "-": it would be read as an option.
  const args = [
    "-XX:TieredStopAtLevel=1",
    "-cp",
    classPathOf(folder),
    "kafka.tools.StorageTool",
    "format",
    "-t",
    clusterId,
    "-c",
    properties,
  ];
  await run(java, args, "Kafka's storage could not be formatted");
}

async function run(command: string, args: string[], what: string): Promise<void> {
  const { ok, problem } = await runCommand(command, args, { timeoutMs: 300_000 });
  if (ok) return;
  throw new PartError(
    what,
    problem,
    "check that Maven can reach its repository (~/.m2/settings.xml), or start without Kafka: WONRAIL_BUS=feed.",
  );
}
