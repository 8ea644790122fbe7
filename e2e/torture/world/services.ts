import { join } from "node:path";
import { type Parts } from "@wonrail/kit/testing/buildWorld";
import { type Home } from "@wonrail/local/home";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { type Guard } from "@wonrail/local/process/guard";
import { type ProcessSpec } from "@wonrail/local/process/ownedProcess";
import { type Secrets } from "@wonrail/local/secrets";
import { gatewaySpec, SERVICES, serviceSpec } from "@wonrail/local/services";
import { type Stack } from "@wonrail/local/stackFile";
import { ROOT } from "../../ops/repository";
import { FINALITY } from "./chain";
import { type Links, placeOf } from "./links";
import { createReplica, type Replica } from "./replica";

/** Loopback addresses that stand for machines. Both replicas of a service use the same ports. */
const MACHINES = ["127.0.0.1", "127.0.0.2"] as const;
/** The addresses at which gateways find the proxies before these machines. */
const BEFORE_MACHINES = ["127.0.1.1", "127.0.1.2"] as const;
const NAMES = join(ROOT, "e2e/support/clusterNames.js");
const CLOCK = join(ROOT, "e2e/support/steppedClock.js");
/** Services that the gateway calls. */
const BEHIND_GATEWAY = ["auth", "wallet", "payment", "chain-relayer", "events"];

const SETTINGS: Record<string, Record<string, string>> = {
  // A refreshed key's predecessor ends within a run.
  auth: { KEY_OVERLAP_MS: "5000" },
  "chain-relayer": {
    LEASE_MS: "3000",
    RECORD_LEASE_MS: "5000",
    CHAIN_RPC_TIMEOUT_MS: "1500",
    RESEND_AFTER_MS: "2000",
    REPLACE_AFTER_MS: "8000",
    RECONCILE_EVERY_MS: "5000",
    // Transfers to addresses that cannot receive fail within a run.
    OUTSIDE_LIFE_MS: "6000",
    AUTHORIZATION_LIFE_MS: "15000",
  },
};

export interface ServiceOptions {
  home: Home;
  guard: Guard;
  secrets: Secrets;
  links: Links;
  /** Addresses of the stack; those of services are names. */
  stack: Stack;
  kafkaReplication: number;
}

/** The addresses of a stack's services: names, which each process resolves to machines. */
export async function placeServices(): Promise<Stack["services"]> {
  const services: Stack["services"] = { gateway: { ops: await newAddress(MACHINES[0]), pid: null } };
  for (const { name } of SERVICES)
    services[name] = { grpc: await newAddress(name), ops: await newAddress(MACHINES[0]), pid: null };
  return services;
}

/** The stack with the addresses of the first machine, for operators' commands outside the world. */
export function onFirstMachine(stack: Stack): Stack {
  const services = Object.entries(stack.services).map(([name, { grpc, ...rest }]) => [
    name,
    grpc === undefined ? rest : { ...rest, grpc: grpc.replace(name, MACHINES[0]) },
  ]);
  return { ...stack, services: Object.fromEntries(services) as Stack["services"] };
}

async function newAddress(host: string): Promise<string> {
  return `${host}:${await randomFreePort()}`;
}

/** The addresses of the gateways. */
export function gatewayUrls({ gatewayUrl }: Stack): string[] {
  return MACHINES.map((machine) => `http://${machine}:${new URL(gatewayUrl).port}`);
}

/** Starts two replicas of each service and of the gateway, and waits until all are ready. */
export async function startServices(parts: Parts, options: ServiceOptions): Promise<Replica[]> {
  const names = ["gateway", ...SERVICES.map(({ name }) => name)];
  await linkGateways(options);
  const replicas: Replica[] = [];
  for (const name of names) {
    const settings = await settingsOf(name, options);
    for (const machine of MACHINES) {
      const spec = specOf(name, machine, settings, options);
      replicas.push(createReplica(spec.name, name, spec, options.guard));
    }
  }
  parts.onClose(() => Promise.all(replicas.map((replica) => replica.kill())));
  for (const replica of replicas) replica.start();
  await Promise.all(replicas.map((replica) => replica.untilReady()));
  return replicas;
}

/** Puts a proxy between the gateways and each replica that they call. */
async function linkGateways({ links, stack }: ServiceOptions): Promise<void> {
  for (const name of BEHIND_GATEWAY) {
    const { port } = placeOf(stack.services[name]!.grpc!);
    for (const [number, host] of MACHINES.entries())
      await links.add(
        "gateway-service",
        `gateway to ${name}`,
        { host, port },
        { host: BEFORE_MACHINES[number]!, port },
      );
  }
}

/** Settings of a service that are not those of every deployment. */
async function settingsOf(name: string, { secrets, links, stack, kafkaReplication }: ServiceOptions) {
  const own: Record<string, Record<string, string>> = {
    wallet: { KEK_PATH: secrets.kekFile },
    events: { WEBHOOK_KEK_PATH: secrets.webhookKekFile, WEBHOOK_ALLOW_LOOPBACK: "true" },
    "chain-relayer": {
      OPERATOR_KEY_FILE: secrets.operatorKeyFile,
      CHAIN_RPC_URLS: links
        .on("relayer-chain")
        .flatMap(({ proxies }) => proxies.map(urlOf))
        .join(","),
    },
  };
  const resolved = Object.fromEntries(
    SERVICES.map((service) => [service.name, name === "gateway" ? BEFORE_MACHINES : MACHINES]),
  );
  const common = {
    CLUSTER_NAMES: JSON.stringify(resolved),
    FINALITY: String(FINALITY),
    SHUTDOWN_GRACE_MS: "10000",
    SHUTDOWN_SETTLE_MS: "1000",
    ...(name === "gateway" ? {} : { DATABASE_URL: await linkDatabase(name, links, stack) }),
    ...(stack.bus.kind === "kafka" ? { KAFKA_REPLICATION: String(kafkaReplication) } : {}),
  };
  return { ...common, ...SETTINGS[name], ...own[name] };
}

function urlOf({ host, port }: { host: string; port: number }): string {
  return `http://${host}:${port}`;
}

async function linkDatabase(name: string, links: Links, { postgres }: Stack): Promise<string> {
  const { host, port } = await links.add("service-postgres", `${name} to postgres`, postgres);
  const url = new URL(postgres.urls[name]!);
  url.host = `${host}:${port}`;
  return url.href;
}

function specOf(
  name: string,
  machine: string,
  settings: Record<string, string>,
  { home, stack }: ServiceOptions,
): ProcessSpec {
  const { ops } = stack.services[name]!;
  const place = { ...stack.services[name]!, ops: `${machine}:${placeOf(ops).port}` };
  const there = { ...stack, services: { ...stack.services, [name]: place } };
  const instance = `${name}-${MACHINES.findIndex((one) => one === machine) + 1}`;
  const hosts = { GRPC_HOST: machine, HTTP_HOST: machine, OPS_HOST: machine };
  const own = { ...settings, ...hosts, CLOCK_FILE: clockFileOf(home, instance) };
  const service = SERVICES.find((one) => one.name === name);
  const spec = service ? serviceSpec(home, service, there, own) : gatewaySpec(home, there, own);
  return {
    ...spec,
    name: instance,
    args: () => ["--require", NAMES, "--require", CLOCK, ...spec.args()],
    logFile: home.log(instance),
  };
}

/** The milliseconds by which the clock of a replica is wrong. */
export function clockFileOf(home: Home, replica: string): string {
  return join(home.dir, `clock-${replica}`);
}
