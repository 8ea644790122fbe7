import { z } from "zod";
import { count, durationMs, flag, hostPort, list, port, postgresUrl, rule } from "../config";
import { certificates, tlsRule, tlsShape } from "../tls";
import { tracingShape } from "../tracing";

const kafkaShape = {
  /** Transport of events: Kafka with the feeds behind it, or the feeds alone. */
  BUS: z.enum(["kafka", "feed"]).default("kafka"),
  KAFKA_BROKERS: list
    .refine((brokers) => brokers.every((broker) => hostPort.safeParse(broker).success), "must be host:port,…")
    .default([]),
  /** Replicas of each topic. The process stops when a topic has fewer. 1 is for a laptop. */
  KAFKA_REPLICATION: count.min(1).default(3),
  KAFKA_TLS: flag.default(false),
  /** The authority of the brokers' certificates, as PEM. Default: Node's authorities. */
  KAFKA_CA: certificates.optional(),
  KAFKA_SASL: z.enum(["plain", "scram-sha-256", "scram-sha-512"]).optional(),
  KAFKA_USERNAME: z.string().optional(),
  KAFKA_PASSWORD: z.string().optional(),
};

const kafkaRule = rule(
  kafkaShape,
  ({ BUS, KAFKA_BROKERS, KAFKA_TLS, KAFKA_SASL, KAFKA_USERNAME, KAFKA_PASSWORD }) => {
    if (BUS !== "kafka") return [];
    const problems: string[] = [];
    if (KAFKA_BROKERS.length === 0) problems.push("KAFKA_BROKERS is not set: BUS is kafka");
    if (KAFKA_SASL === undefined) return problems;
    if (KAFKA_USERNAME === undefined) problems.push("KAFKA_USERNAME is not set: KAFKA_SASL is");
    if (KAFKA_PASSWORD === undefined) problems.push("KAFKA_PASSWORD is not set: KAFKA_SASL is");
    if (KAFKA_SASL === "plain" && !KAFKA_TLS)
      problems.push("KAFKA_SASL is plain: without KAFKA_TLS the password would be readable on the network");
    return problems;
  },
);

const callersShape = {
  GRPC_HOST: z.string().default("0.0.0.0"),
  /**
   * The service may start without TLS. It then cannot identify its callers and admits all of
   * them.
   */
  ALLOW_UNIDENTIFIED_CALLERS: flag.default(false),
  TLS_CERT: tlsShape.TLS_CERT,
};

/** A service without certificates cannot identify its callers, so proto/callers.json has no effect. */
const callersRule = rule(callersShape, ({ GRPC_HOST, ALLOW_UNIDENTIFIED_CALLERS, TLS_CERT }) => {
  if (TLS_CERT !== undefined || ALLOW_UNIDENTIFIED_CALLERS || isLoopback(GRPC_HOST)) return [];
  return [
    "TLS_CERT_FILE is not set: other machines can reach GRPC_HOST, and the service cannot identify callers " +
      "without certificates. Set TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE, or ALLOW_UNIDENTIFIED_CALLERS=true",
  ];
});

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

export const serviceRules = [tlsRule, callersRule, kafkaRule];

/** The settings of every service. A service's config.ts adds its own and reads all with `serviceRules`. */
export const serviceShape = {
  NODE_ENV: z.enum(["production", "development", "test", "reltest"]).default("production"),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal"]).default("info"),
  DATABASE_URL: postgresUrl,
  DATABASE_POOL_MAX: count.min(1).default(10),
  /** The database server should have a synchronous stand-by; its absence is an alert. */
  DATABASE_STANDBY: flag.default(false),
  GRPC_PORT: port,
  GRPC_REFLECTION: flag.default(false),
  ...tlsShape,
  ...callersShape,
  ...tracingShape,
  OPS_HOST: z.string().default("0.0.0.0"),
  OPS_PORT: port,
  ...kafkaShape,
  /** How long the feed of this service keeps events. */
  FEED_RETENTION_HOURS: count.min(1).default(7 * 24),
  /** Longest time from the end of SHUTDOWN_SETTLE_MS to the exit of a stopping process. */
  SHUTDOWN_GRACE_MS: durationMs.min(1).default(20_000),
  /** A stopping process stays up this long after it reports unready, so that load balancers notice. */
  SHUTDOWN_SETTLE_MS: durationMs.default(0),
  COMMIT: z.string().default("unknown"),
};

export type ServiceConfig = z.output<z.ZodObject<typeof serviceShape>>;
