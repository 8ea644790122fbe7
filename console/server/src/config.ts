import { count, durationMs, hostPort, loadConfig, port, postgresUrl, rule } from "@wonrail/kit/config";
import { networkSetting } from "@wonrail/kit/contract/networks";
import { tlsRule, tlsShape } from "@wonrail/kit/tls";
import { tracingShape } from "@wonrail/kit/tracing";
import { z } from "zod";

const webUrl = z.url({ protocol: /^https?$/ });

const schema = z.object({
  NODE_ENV: z.enum(["production", "development", "test", "reltest"]).default("production"),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal"]).default("info"),
  COMMIT: z.string().default("unknown"),
  HTTP_HOST: z.string().default("0.0.0.0"),
  HTTP_PORT: port,
  OPS_HOST: z.string().default("0.0.0.0"),
  OPS_PORT: port,
  DATABASE_URL: postgresUrl,
  DATABASE_POOL_MAX: count.min(1).default(5),

  AUTH_ADDRESS: hostPort,
  WALLET_ADDRESS: hostPort,
  LEDGER_ADDRESS: hostPort,
  PAYMENT_ADDRESS: hostPort,
  RELAYER_ADDRESS: hostPort,
  EVENTS_ADDRESS: hostPort,
  ...tlsShape,
  ...tracingShape,
  /** The network that the pages show. */
  NETWORK: networkSetting,

  /** The address of the console in a browser. It must be https, except on this machine. */
  PUBLIC_URL: webUrl,
  /** The OpenID Connect issuer. Without it, operators sign in by one-time links. */
  OIDC_ISSUER: webUrl.optional(),
  /** The console's client at the issuer. Required with OIDC_ISSUER. */
  OIDC_CLIENT_ID: z.string().optional(),
  /** Absent for a public client. Usually OIDC_CLIENT_SECRET_FILE. */
  OIDC_CLIENT_SECRET: z.string().optional(),
  /** The scopes that a sign-in asks for. */
  OIDC_SCOPE: z.string().default("openid email profile"),
  /**
   * The claim of the ID token that becomes the operator's name in audit trails. A user must not be
   * able to change it.
   */
  OIDC_NAME_CLAIM: z.string().default("email"),
  /** The claim of the ID token that lists the operator's roles. */
  OIDC_ROLES_CLAIM: z.string().default("roles"),

  /** The Prometheus with the rules of deploy/prometheus. Home shows its alerts and the error budget. */
  PROMETHEUS_URL: webUrl.optional(),

  /** A session ends after this time without a request. */
  SESSION_IDLE_MS: durationMs.min(1).default(15 * 60_000),
  /** A session ends this long after the sign-in. */
  SESSION_MAX_MS: durationMs.min(1).default(8 * 3_600_000),

  /** Number of our own proxies in front of the console. */
  TRUSTED_PROXY_HOPS: count.max(10).default(0),

  /** Longest time from the end of SHUTDOWN_SETTLE_MS to the exit of a stopping process. */
  SHUTDOWN_GRACE_MS: durationMs.min(1).default(20_000),
  /** A stopping process stays up this long after it reports unready, so that load balancers notice. */
  SHUTDOWN_SETTLE_MS: durationMs.default(0),
});

const { PUBLIC_URL, OIDC_ISSUER, OIDC_CLIENT_ID } = schema.shape;

const httpsRule = rule({ PUBLIC_URL, OIDC_ISSUER }, (urls) =>
  Object.entries(urls)
    .filter(([, url]) => url !== undefined && !isHttps(url) && !isLoopback(url))
    .map(([name]) => `${name}: must be https, because cookies and codes would be readable on the network`),
);

const originRule = rule({ PUBLIC_URL }, (given) => {
  const { pathname, search, hash } = new URL(given.PUBLIC_URL);
  return pathname === "/" && search === "" && hash === "" ? [] : ["PUBLIC_URL: must have no path"];
});

const oidcRule = rule({ OIDC_ISSUER, OIDC_CLIENT_ID }, (given) =>
  given.OIDC_ISSUER !== undefined && given.OIDC_CLIENT_ID === undefined
    ? ["OIDC_CLIENT_ID is not set: OIDC_ISSUER is"]
    : [],
);

export type Config = z.output<typeof schema>;

export function readConfig(env: NodeJS.ProcessEnv = process.env, exit?: (message: string) => never): Config {
  return loadConfig(schema, env, [tlsRule, httpsRule, originRule, oidcRule], exit);
}

export function isHttps(url: string): boolean {
  return new URL(url).protocol === "https:";
}

/** True for addresses of this machine, where plain HTTP is safe. */
export function isLoopback(url: string): boolean {
  return /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/.test(new URL(url).hostname);
}

const linkSchema = z.object({
  /** The folder of a running stack. */
  WONRAIL_HOME: z.string().optional(),
  /** The console's database. Default: that of a running stack in WONRAIL_HOME. */
  DATABASE_URL: postgresUrl.optional(),
  PUBLIC_URL: webUrl.optional(),
});

export type LinkConfig = z.output<typeof linkSchema>;

/** The settings of the command that creates one-time links. */
export function readLinkConfig(): LinkConfig {
  return loadConfig(linkSchema, process.env);
}
