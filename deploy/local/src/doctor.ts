import { spawnSync } from "node:child_process";
import { existsSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { dirname } from "node:path";
import { inheritedEnv, type LocalConfig } from "./config";
import { anvilBinary } from "./parts/anvil";
import { findDocker } from "./parts/docker";
import { findJava, findMaven, type Found } from "./parts/java";
import { kafkaJarsAreCached } from "./parts/kafkaJars";
import { PartError } from "./parts/partError";
import { findPostgresBinaries } from "./parts/postgresBinaries";
import { postgresUser } from "./parts/postgresUser";
import { isFree } from "./process/freePort";
import { PREFERRED_PORTS, SERVICES } from "./services";
import { planBus } from "./startBus";

export interface Finding {
  name: string;
  /** "worse" works, with something less good; "bad" does not. */
  verdict: "good" | "worse" | "bad";
  text: string;
  fix?: string;
}

const NEEDED_DISK_BYTES = 2e9;
const NEEDED_MEMORY_BYTES = 1.5e9;

/** The tools that the stack can use: found ones, and the way to get the others. */
export async function examine(config: LocalConfig, running: boolean): Promise<Finding[]> {
  return [
    { name: "node", verdict: "good", text: `${process.versions.node} (20.19 or newer is needed)` },
    npm(),
    attempt("user", () => ({ text: describeUser() })),
    attempt("postgres", () => ({ text: findPostgresBinaries(postgresUser()?.user).label })),
    attempt("chain", () => ({ text: anvilBinary() })),
    optional("docker", findDocker(), "start the Docker engine; only then Kafka runs in a container"),
    optional("java", findJava(config.javaHome), "Debian: apt-get install openjdk-17-jre-headless"),
    maven(config),
    bus(config),
    disk(config.home),
    memory(),
    await ports(running),
  ];
}

function npm(): Finding {
  const { status, stdout } = spawnSync("npm", ["--version"], { encoding: "utf8", env: inheritedEnv() });
  if (status === 0) return { name: "npm", verdict: "good", text: stdout.trim() };
  return { name: "npm", verdict: "bad", text: "cannot be run", fix: "install npm; it comes with Node" };
}

function describeUser(): string {
  const account = postgresUser();
  return account ? `root; PostgreSQL runs as ${account.name}, since it refuses to be root` : "not root";
}

function maven({ cacheDir }: LocalConfig): Finding {
  if (kafkaJarsAreCached(cacheDir))
    return { name: "maven", verdict: "good", text: `not needed: Kafka's jars are in ${cacheDir}` };
  return optional("maven", findMaven(), "Debian: apt-get install maven");
}

function bus(config: LocalConfig): Finding {
  return attempt("bus", () => {
    const plan = planBus(config);
    if (plan.kind !== "feed") return { text: `Kafka (${plan.why})` };
    const text = `embedded feed (${plan.why})`;
    return plan.better === undefined
      ? { text }
      : { text, verdict: "worse", fix: `for Kafka: ${plan.better}` };
  });
}

function disk(home: string): Finding {
  let folder = home;
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const text = `${gigabytes(free)} free at ${folder}`;
  if (free >= NEEDED_DISK_BYTES) return { name: "disk", verdict: "good", text };
  return {
    name: "disk",
    verdict: "bad",
    text,
    fix: `free ${gigabytes(NEEDED_DISK_BYTES)}, or set WONRAIL_HOME to another disk`,
  };
}

function memory(): Finding {
  const free = process.availableMemory?.() ?? freemem();
  const text = `${gigabytes(free)} free`;
  if (free >= NEEDED_MEMORY_BYTES) return { name: "memory", verdict: "good", text };
  return {
    name: "memory",
    verdict: "worse",
    text,
    fix: "close something, or do without Kafka: WONRAIL_BUS=feed",
  };
}

async function ports(running: boolean): Promise<Finding> {
  if (running) return { name: "ports", verdict: "good", text: "in use by the running stack" };
  const wanted = [
    ...Object.values(PREFERRED_PORTS),
    ...SERVICES.flatMap(({ preferred }) => Object.values(preferred)),
  ];
  const free = await Promise.all(wanted.map(isFree));
  const taken = wanted.filter((_, index) => !free[index]);
  if (taken.length === 0) return { name: "ports", verdict: "good", text: "all of the usual ones are free" };
  return {
    name: "ports",
    verdict: "worse",
    text: `taken: ${taken.join(", ")}`,
    fix: "nothing: the next free ones are used",
  };
}

function optional(name: string, found: Found, fix: string): Finding {
  if (found.ok) return { name, verdict: "good", text: found.version };
  return { name, verdict: "worse", text: `${found.why} (only needed for Kafka)`, fix };
}

function attempt(
  name: string,
  look: () => { text: string; verdict?: Finding["verdict"]; fix?: string },
): Finding {
  try {
    return { name, verdict: "good", ...look() };
  } catch (error) {
    if (error instanceof PartError) return { name, verdict: "bad", text: error.why, fix: error.next };
    return { name, verdict: "bad", text: error instanceof Error ? error.message : String(error) };
  }
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
