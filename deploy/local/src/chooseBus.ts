import type { BusChoice } from "./config";
import type { Found } from "./parts/java";
import { PartError } from "./parts/partError";

/** The two ways to a broker of our own. */
export type KafkaWay = "docker" | "jars";

export type BusPlan = { why: string } & (
  | { kind: "given"; brokers: string }
  | { kind: "docker" }
  | { kind: "jars"; java: string }
  /** Only the feeds, with the way to get Kafka. */
  | { kind: "feed"; better: string | undefined }
);

export interface BusFacts {
  /** The bus of --bus or WONRAIL_BUS. */
  wish: BusChoice | undefined;
  brokers: string | undefined;
  /** Ways that were tried in this start and did not work, with the reason. */
  failed: ReadonlyMap<KafkaWay, string>;
  docker: () => Found;
  java: () => Found;
  /** Whether the jars are here already or Maven can fetch them. */
  jars: () => Found;
}

/** Chooses Kafka if the machine has a way to run it, the quickest first; otherwise the embedded feed. */
export function chooseBus(facts: BusFacts): BusPlan {
  const { wish, brokers } = facts;
  if (wish === "feed") return { kind: "feed", why: "you asked for it", better: undefined };
  if (brokers !== undefined) return { kind: "given", brokers, why: "KAFKA_BROKERS is set" };
  const engine = unlessFailed(facts, "docker", facts.docker);
  if (engine.ok) return { kind: "docker", why: `a Docker engine ${engine.version} answers` };
  const java = unlessFailed(facts, "jars", facts.java);
  const jars = java.ok ? facts.jars() : java;
  if (java.ok && jars.ok)
    return { kind: "jars", java: java.command, why: `Java ${java.version}; ${engine.why}` };
  const why = `${engine.why}, ${jars.ok ? "" : jars.why}`;
  const better =
    "start Docker, or install Java 17 and Maven (Debian: apt-get install openjdk-17-jre-headless maven)";
  if (wish === "kafka")
    throw new PartError("Kafka cannot be started", why, `${better}, or set KAFKA_BROKERS.`);
  return { kind: "feed", why, better };
}

function unlessFailed({ failed }: BusFacts, way: KafkaWay, look: () => Found): Found {
  const why = failed.get(way);
  return why === undefined ? look() : { ok: false, why };
}
