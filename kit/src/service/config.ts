import { z } from "zod";
import { count, durationMs, flag, list, port, postgresUrl } from "../config";
import { tlsShape } from "../tls";
import { tracingShape } from "../tracing";

/** What every service is configured with. A service's config.ts adds its own names to this shape. */
export const serviceShape = {
  NODE_ENV: z.enum(["production", "development", "test", "reltest"]).default("production"),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal"]).default("info"),
  DATABASE_URL: postgresUrl,
  DATABASE_POOL_MAX: count.default(10),
  GRPC_HOST: z.string().default("0.0.0.0"),
  GRPC_PORT: port,
  GRPC_REFLECTION: flag.default(false),
  ...tlsShape,
  ...tracingShape,
  OPS_HOST: z.string().default("0.0.0.0"),
  OPS_PORT: port,
  BUS: z.enum(["kafka", "postgres"]).default("kafka"),
  KAFKA_BROKERS: list.default([]),
  KAFKA_TLS: flag.default(false),
  /** The authority that signed the brokers' certificates, as PEM; those that Node trusts unless stated. */
  KAFKA_CA: z.string().optional(),
  KAFKA_SASL: z.enum(["plain", "scram-sha-256", "scram-sha-512"]).optional(),
  KAFKA_USERNAME: z.string().optional(),
  KAFKA_PASSWORD: z.string().optional(),
  /** Where the bus on Postgres lives; the service's own database unless stated. */
  BUS_DATABASE_URL: postgresUrl.optional(),
  /** How long a process takes to stop, at most, after it has settled. */
  SHUTDOWN_GRACE_MS: durationMs.default(20_000),
  /** How long a stopping process stays up after it reports itself unready, so that load balancers notice. */
  SHUTDOWN_SETTLE_MS: durationMs.default(0),
  COMMIT: z.string().default("unknown"),
};

export type ServiceConfig = z.output<z.ZodObject<typeof serviceShape>>;
