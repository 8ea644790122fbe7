import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createLog } from "@wonrail/kit/log";
import { issueCertificates, type TlsEnv } from "./certificates";
import type { Checklist } from "./checklist";
import type { LocalConfig } from "./config";
import { ensureDemoOrganisation } from "./demoOrganisation";
import { deployContracts, type DeployedContracts } from "./deployContracts";
import type { Home } from "./home";
import { prepareAnvil } from "./parts/anvil";
import { startBlockClock } from "./parts/blockClock";
import { newMnemonic } from "./parts/mnemonic";
import { preparePostgres } from "./parts/postgres";
import { choosePorts, type StackPorts } from "./ports";
import type { PortBook } from "./process/reservePort";
import type { Supervisor } from "./process/supervisor";
import { provision, type Provisioned } from "./provision";
import { openSecrets, type Secrets } from "./secrets";
import { CONSOLE, consoleSpec, gatewaySpec, serviceSpec, SERVICES } from "./services";
import { readStackFile, writeStackFile, type Stack } from "./stackFile";
import { startBus } from "./startBus";

/**
 * Enough for two replicas of each of the six services with twelve connections each, as during a roll-out,
 * and for migrators and operators.
 */
const MAX_CONNECTIONS = 200;

export interface StackStart {
  config: LocalConfig;
  home: Home;
  supervisor: Supervisor;
  ports: PortBook;
  checklist: Checklist;
  /** Ends the start at the next step. */
  signal: AbortSignal;
  /** Steps before the processes are stopped. */
  onClose: (close: () => Promise<void>) => void;
}

/** Starts everything in order: parts, schemas, contracts, services, gateway, console, demo organisation. */
export async function startStack(start: StackStart): Promise<Stack> {
  const { home, checklist, signal } = start;
  const previous = readStackFile(home.stackFile);
  const secrets = openSecrets(home);
  const ports = await choosePorts(start.ports, previous);
  const step: Checklist["step"] = (name, work, describe) => {
    signal.throwIfAborted();
    return checklist.step(name, work, describe);
  };

  const data = async () => {
    const { superuserUrl } = await step("postgres", () => startPostgres(start, secrets, ports), labelOf);
    const run = () => provision(superuserUrl, secrets, migrationLog(home));
    return { adminUrl: superuserUrl, ...(await step("databases", run, describeDatabases)) };
  };
  const chain = async () => {
    const anvil = await step("chain", () => startChain(start, secrets, ports), labelOf);
    const contracts = await step("contracts", () => deployContracts(anvil, secrets), describeContracts);
    return { rpcUrl: anvil.rpcUrl, chainId: anvil.chainId, ...contracts };
  };
  const bus = () => step("bus", () => startBus({ ...start, ports }), labelOf);
  const [{ urls, adminUrl }, contracts, events] = await allOf([data(), chain(), bus()]);
  if (events.better !== undefined) checklist.note(`  For Kafka: ${events.better}.`);

  const stack = describeStack(ports, {
    organisations: previous?.organisations ?? [],
    postgres: { ...placeOf(adminUrl), urls: { ...urls, admin: adminUrl } },
    bus: events.bus,
    chain: contracts,
  });
  const certificates = certificatesFor(start);
  const { cli } = certificates;
  if (cli) stack.cli = { cert: cli.TLS_CERT_FILE, key: cli.TLS_KEY_FILE, ca: cli.TLS_CA_FILE };
  await step(
    "services",
    () => startServices(start, stack, secrets, certificates),
    () => `${SERVICES.map(({ name }) => name).join(", ")}, ${describeTransport(start.config)}`,
  );
  await step(
    "gateway",
    () => start.supervisor.run(gatewaySpec(home, stack, certificates.gateway ?? {}), 2),
    () => stack.gatewayUrl,
  );
  await step(
    "console",
    () => start.supervisor.run(consoleSpec(home, stack, certificates.console ?? {}), 2),
    () => stack.consoleUrl,
  );
  stack.organisations = await step(
    "organisation",
    () => ensureDemoOrganisation(stack),
    ([first]) => `${first?.name} (${first?.orgCode})`,
  );
  writeStackFile(home.stackFile, stack);
  return stack;
}

async function startPostgres({ config, home, supervisor }: StackStart, secrets: Secrets, ports: StackPorts) {
  if (config.postgresUrl !== undefined) {
    return { superuserUrl: config.postgresUrl, label: "given by WONRAIL_POSTGRES_URL" };
  }
  const part = await preparePostgres({
    dir: home.part("postgres"),
    logFile: home.log("postgres"),
    port: ports.postgres,
    password: secrets.password("postgres"),
    durable: true,
    maxConnections: MAX_CONNECTIONS,
  });
  await supervisor.run(part.spec, 0);
  return { superuserUrl: part.adminUrl, label: `${part.label}, ${part.host}:${part.port}` };
}

async function startChain({ home, supervisor, onClose }: StackStart, secrets: Secrets, ports: StackPorts) {
  const mnemonic = await secrets.mnemonic(newMnemonic);
  const anvil = prepareAnvil({
    dir: home.part("anvil"),
    logFile: home.log("anvil"),
    port: ports.anvil,
    mnemonic,
  });
  await supervisor.run(anvil.spec, 0);
  const clock = startBlockClock(anvil);
  onClose(() => clock.close());
  return { ...anvil, label: `anvil, ${anvil.rpcUrl}` };
}

function certificatesFor({ config, home }: StackStart): Record<string, TlsEnv> {
  if (!config.mtls) return {};
  return issueCertificates(home, ["gateway", CONSOLE.name, "cli", ...SERVICES.map(({ name }) => name)]);
}

async function startServices(
  { home, supervisor }: StackStart,
  stack: Stack,
  secrets: Secrets,
  certificates: Record<string, TlsEnv>,
): Promise<void> {
  const extra: Record<string, Record<string, string>> = {
    wallet: { KEK_PATH: secrets.kekFile, SEED_ESCROW_FOLDER: makeEscrow(home) },
    events: { WEBHOOK_KEK_PATH: secrets.webhookKekFile, WEBHOOK_ALLOW_LOOPBACK: "true" },
    "chain-relayer": {
      OPERATOR_KEY_FILE: secrets.operatorKeyFile,
      FAUCET_KEY_FILE: secrets.faucetKeyFile,
    },
  };
  await allOf(
    SERVICES.map((place) => {
      const own = { ...certificates[place.name], ...extra[place.name] };
      return supervisor.run(serviceSpec(home, place, stack, own), 1);
    }),
  );
}

/** The copies of custody's seeds, outside of the database. */
function makeEscrow({ secretsDir }: Home): string {
  const folder = join(secretsDir, "seeds");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

function describeStack(
  ports: StackPorts,
  parts: Pick<Stack, "organisations" | "postgres" | "bus" | "chain">,
): Stack {
  const gatewayUrl = `http://127.0.0.1:${ports.gateway}`;
  const consoleUrl = `http://127.0.0.1:${ports.console}`;
  const prometheusUrl = `http://127.0.0.1:${ports.prometheus}`;
  const services: Stack["services"] = {
    gateway: { ops: `127.0.0.1:${ports.gatewayOps}`, pid: null },
    console: { ops: `127.0.0.1:${ports.consoleOps}`, pid: null },
  };
  for (const { name } of SERVICES) {
    services[name] = {
      grpc: `127.0.0.1:${ports.grpc[name]}`,
      ops: `127.0.0.1:${ports.ops[name]}`,
      pid: null,
    };
  }
  const docsUrl = `${gatewayUrl}/api/docs`;
  return { gatewayUrl, docsUrl, consoleUrl, prometheusUrl, services, ...parts };
}

/** Waits for all of them, also after a failure: a starting part could not be stopped in order. */
async function allOf<T extends readonly Promise<unknown>[] | []>(
  works: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(works);
  return Promise.all(works);
}

function placeOf(adminUrl: string): { host: string; port: number } {
  const url = new URL(adminUrl);
  return { host: url.hostname, port: Number(url.port || "5432") };
}

function labelOf({ label }: { label: string }): string {
  return label;
}

function describeTransport({ mtls }: LocalConfig): string {
  return mtls ? "by mutual TLS" : "in plain text on 127.0.0.1 only (WONRAIL_MTLS=true for mutual TLS)";
}

function describeDatabases({ urls, migrations }: Provisioned): string {
  return `${Object.keys(urls).length} databases, ${migrations === 0 ? "up to date" : `${migrations} migrations applied`}`;
}

function describeContracts({ tokenAddress, paymentManagerAddress }: DeployedContracts): string {
  return `token ${tokenAddress}, payment manager ${paymentManagerAddress}`;
}

function migrationLog(home: Home) {
  const write = (line: string): void => appendFileSync(home.log("migrations"), line, { mode: 0o600 });
  return createLog({ service: "migrations", destination: { write } });
}
