import { join } from "node:path";
import { REPOSITORY, inheritedEnv } from "./config";
import type { Home } from "./home";
import type { ProcessSpec } from "./process/ownedProcess";
import type { Stack } from "./stackFile";

export type ServiceName = "auth" | "wallet" | "ledger" | "payment" | "chain-relayer" | "events";

export interface ServicePlace {
  name: ServiceName;
  schema: string;
  /** Environment variable in which other services find it. */
  addressVariable: string;
  preferred: { grpc: number; ops: number };
}

/** In the order in which they start. */
export const SERVICES: readonly ServicePlace[] = [
  { name: "auth", schema: "auth", addressVariable: "AUTH_ADDRESS", preferred: { grpc: 7101, ops: 7201 } },
  {
    name: "ledger",
    schema: "ledger",
    addressVariable: "LEDGER_ADDRESS",
    preferred: { grpc: 7102, ops: 7202 },
  },
  {
    name: "wallet",
    schema: "wallet",
    addressVariable: "WALLET_ADDRESS",
    preferred: { grpc: 7103, ops: 7203 },
  },
  {
    name: "payment",
    schema: "payment",
    addressVariable: "PAYMENT_ADDRESS",
    preferred: { grpc: 7104, ops: 7204 },
  },
  {
    name: "chain-relayer",
    schema: "chain_relayer",
    addressVariable: "RELAYER_ADDRESS",
    preferred: { grpc: 7105, ops: 7205 },
  },
  {
    name: "events",
    schema: "events",
    addressVariable: "EVENTS_ADDRESS",
    preferred: { grpc: 7106, ops: 7206 },
  },
];

/** The operators' edge. It has a database for its sessions, and no gRPC server. */
export const CONSOLE = { name: "console", schema: "console" } as const;

export const PREFERRED_PORTS = {
  gateway: 8080,
  gatewayOps: 7200,
  console: 8090,
  consoleOps: 7207,
  prometheus: 9090,
  postgres: 7432,
  kafka: 7092,
  kafkaController: 7093,
  anvil: 7545,
};

/** The settings of a service, the same as in a cluster. */
export function serviceSpec(
  home: Home,
  place: ServicePlace,
  stack: Stack,
  extra: Record<string, string>,
): ProcessSpec {
  const entry = stack.services[place.name]!;
  const [grpcPort, opsPort] = [portOf(entry.grpc!), portOf(entry.ops)];
  const env = {
    ...commonEnv(stack),
    DATABASE_URL: stack.postgres.urls[place.name]!,
    GRPC_HOST: "127.0.0.1",
    GRPC_PORT: grpcPort,
    GRPC_REFLECTION: "true",
    OPS_PORT: opsPort,
    BUS: stack.bus.kind,
    ...busEnv(stack),
    ...extra,
  };
  return nodeSpec(home, place.name, join(REPOSITORY, "services", place.name), env, entry.ops);
}

/** The local stack has a single broker. */
function busEnv({ bus }: Stack): Record<string, string> {
  return bus.kind === "kafka" ? { KAFKA_BROKERS: bus.brokers, KAFKA_REPLICATION: "1" } : {};
}

export function gatewaySpec(home: Home, stack: Stack, extra: Record<string, string>): ProcessSpec {
  const { ops } = stack.services.gateway!;
  const url = new URL(stack.gatewayUrl);
  const env = {
    ...commonEnv(stack),
    HTTP_HOST: url.hostname,
    HTTP_PORT: url.port,
    OPS_PORT: portOf(ops),
    ...extra,
  };
  return nodeSpec(home, "gateway", join(REPOSITORY, "gateway"), env, ops);
}

export function consoleSpec(home: Home, stack: Stack, extra: Record<string, string>): ProcessSpec {
  const { ops } = stack.services.console!;
  const url = new URL(stack.consoleUrl);
  const env = {
    ...commonEnv(stack),
    DATABASE_URL: stack.postgres.urls.console!,
    HTTP_HOST: url.hostname,
    HTTP_PORT: url.port,
    OPS_PORT: portOf(ops),
    PUBLIC_URL: stack.consoleUrl,
    PROMETHEUS_URL: stack.prometheusUrl,
    ...extra,
  };
  return nodeSpec(home, "console", join(REPOSITORY, "console/server"), env, ops);
}

function commonEnv(stack: Stack): Record<string, string> {
  const addresses = SERVICES.map(({ name, addressVariable }) => [
    addressVariable,
    stack.services[name]!.grpc!,
  ]);
  return {
    ...inheritedEnv(),
    ...(Object.fromEntries(addresses) as Record<string, string>),
    NODE_ENV: "production",
    MALLOC_ARENA_MAX: "1", // As in the images.
    OPS_HOST: "127.0.0.1",
    CHAIN_RPC_URLS: stack.chain.rpcUrl,
    CHAIN_ID: String(stack.chain.chainId),
    TOKEN_ADDRESS: stack.chain.tokenAddress,
    PAYMENT_MANAGER_ADDRESS: stack.chain.paymentManagerAddress,
    FINALITY: "finalized",
  };
}

/**
 * V8's heap sizes in MB. Without a setting the young generation is 1 to 64 MB, depending on Node's
 * version and the machine's memory (docs/performance/memory.md).
 */
const HEAPS: Record<string, { young: number; old?: number }> = {
  gateway: { young: 8, old: 160 },
  console: { young: 8, old: 128 },
  auth: { young: 16 },
  wallet: { young: 16 },
  ledger: { young: 16, old: 192 },
  payment: { young: 8, old: 160 },
  "chain-relayer": { young: 8, old: 160 },
  events: { young: 8, old: 160 },
};

/** The flags of node. */
export function nodeFlags(name: string): string[] {
  const { young, old } = HEAPS[name]!;
  const bound = old === undefined ? [] : [`--max-old-space-size=${old}`];
  const growth = "--heap-growing-percent=60";
  return ["--enable-source-maps", growth, `--max-semi-space-size=${young}`, ...bound];
}

function nodeSpec(
  home: Home,
  name: string,
  folder: string,
  env: Record<string, string>,
  ops: string,
): ProcessSpec {
  return {
    name,
    command: process.execPath,
    args: () => [...nodeFlags(name), "dist/main.js"],
    env,
    cwd: folder,
    logFile: home.log(name),
    stopSignal: "SIGTERM",
    stopGraceMs: 25_000,
    readyTimeoutMs: 60_000,
    probe: () => assertReady(ops),
  };
}

export async function assertReady(ops: string): Promise<void> {
  const response = await fetch(`http://${ops}/readyz`, { signal: AbortSignal.timeout(3_000) });
  if (!response.ok) throw new Error(`/readyz says ${(await response.text()).trim()}`);
}

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(":") + 1);
}
