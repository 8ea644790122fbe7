import { count, durationMs, hostPort, loadConfig, port } from "@wonrail/kit/config";
import { networkSetting } from "@wonrail/kit/contract/networks";
import { tlsRule, tlsShape } from "@wonrail/kit/tls";
import { tracingShape } from "@wonrail/kit/tracing";
import { z } from "zod";

const schema = z.object({
  NODE_ENV: z.enum(["production", "development", "test", "reltest"]).default("production"),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal"]).default("info"),
  COMMIT: z.string().default("unknown"),
  HTTP_HOST: z.string().default("0.0.0.0"),
  HTTP_PORT: port,
  OPS_HOST: z.string().default("0.0.0.0"),
  OPS_PORT: port,

  /** WON_TESTNET has the sandbox. */
  NETWORK: networkSetting,
  AUTH_ADDRESS: hostPort,
  WALLET_ADDRESS: hostPort,
  PAYMENT_ADDRESS: hostPort,
  RELAYER_ADDRESS: hostPort,
  EVENTS_ADDRESS: hostPort,
  ...tlsShape,
  ...tracingShape,

  /** Time limit for all calls behind one request. */
  REQUEST_BUDGET_MS: durationMs.min(1).default(10_000),
  /** How long a cached valid key works while auth is down (0: not at all). See ADR 0008. */
  AUTH_OUTAGE_GRACE_MS: durationMs.default(300_000),
  /**
   * Number of our own proxies in front of the gateway. The caller's address is the one that the
   * first of them saw. If the number is too low, all callers share a proxy's address and its
   * limits.
   */
  TRUSTED_PROXY_HOPS: count.max(10).default(0),

  MAX_CONNECTIONS: count.min(1).default(10_000),
  /** Longest time until the headers of a request have arrived. 0 means no limit, here and below. */
  HEADERS_TIMEOUT_MS: durationMs.min(1).default(10_000),
  REQUEST_TIMEOUT_MS: durationMs.min(1).default(30_000),
  /**
   * Must exceed a load balancer's idle time, so that it never uses a connection that is closing.
   */
  KEEP_ALIVE_TIMEOUT_MS: durationMs.min(1).default(75_000),
  MAX_REQUESTS_PER_SOCKET: count.default(10_000),

  /** Longest time from the end of SHUTDOWN_SETTLE_MS to the exit of a stopping process. */
  SHUTDOWN_GRACE_MS: durationMs.min(1).default(20_000),
  /** How long a stopping process stays up after it reports itself unready, so that load balancers notice. */
  SHUTDOWN_SETTLE_MS: durationMs.default(0),
});

export type Config = z.output<typeof schema>;

export function readConfig(): Config {
  return loadConfig(schema, process.env, [tlsRule]);
}
