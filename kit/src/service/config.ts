import { z } from "zod";
import { count, durationMs, flag, hostPort, list, port, postgresUrl, rule } from "../config";
import { certificates, tlsRule, tlsShape } from "../tls";
import { tracingShape } from "../tracing";

const kafkaShape = {
  BUS: z.enum(["kafka", "postgres"]).default("kafka"),
  KAFKA_BROKERS: list
    .refine((brokers) => brokers.every((broker) => hostPort.safeParse(broker).success), "must be host:port,…")
    .default([]),
  KAFKA_TLS: flag.default(false),
  /** The authority that signed the brokers' certificates, as PEM; those that Node trusts unless stated. */
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

export const serviceRules = [tlsRule, kafkaRule];

/** What every service is configured with. A service's config.ts adds its own names to this shape, and reads it with the rules above. */
export const serviceShape = {
  NODE_ENV: z.enum(["production", "development", "test", "reltest"]).default("production"),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal"]).default("info"),
  DATABASE_URL: postgresUrl,
  DATABASE_POOL_MAX: count.min(1).default(10),
  /** The server is to have a synchronous stand-by, and it is an alarm when it has none. */
  DATABASE_STANDBY: flag.default(false),
  GRPC_HOST: z.string().default("0.0.0.0"),
  GRPC_PORT: port,
  GRPC_REFLECTION: flag.default(false),
  ...tlsShape,
  ...tracingShape,
  OPS_HOST: z.string().default("0.0.0.0"),
  OPS_PORT: port,
  ...kafkaShape,
  /** Where the bus on Postgres lives; the service's own database unless stated. */
  BUS_DATABASE_URL: postgresUrl.optional(),
  /** How long a process takes to stop, at most, after it has settled. */
  SHUTDOWN_GRACE_MS: durationMs.min(1).default(20_000),
  /** How long a stopping process stays up after it reports itself unready, so that load balancers notice. */
  SHUTDOWN_SETTLE_MS: durationMs.default(0),
  COMMIT: z.string().default("unknown"),
};

export type ServiceConfig = z.output<z.ZodObject<typeof serviceShape>>;
