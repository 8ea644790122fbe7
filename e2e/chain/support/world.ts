import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Database, openDatabase, rawSql } from "@wonrail/kit/db";
import { migrate, provisionSchema } from "@wonrail/kit/migrate";
import { testLog } from "@wonrail/kit/testing";
import { buildWorld, type Parts } from "@wonrail/kit/testing/buildWorld";
import { inheritedEnv, REPOSITORY } from "@wonrail/local/config";
import { CHAIN_ID } from "@wonrail/local/parts/anvil";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { type Guard, startGuard } from "@wonrail/local/process/guard";
import { type OwnedProcess, signalGroup, startProcess } from "@wonrail/local/process/ownedProcess";
import { assertReady, nodeFlags } from "@wonrail/local/services";
import { LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import { computeAddress } from "ethers";
import { type ChainNode, startNode } from "./node";

export interface Contracts {
  tokenAddress: string;
  paymentManagerAddress: string;
}

/** A process of the built services, which may be killed and started again. */
export interface Service {
  start(extra?: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  ops: string;
  /** host:port */
  grpc: string;
  /** Id of the running process. */
  pid(): number;
  exited(): Promise<unknown>;
  logFile: string;
}

/**
 * The settlement half of the system for one test: its own database, its own chain, and processes of
 * the built services.
 */
export interface World {
  node: ChainNode;
  contracts: Contracts;
  operator: string;
  /** Holds the token's roles: pauser, blocklister. */
  admin: string;
  ledger: ReturnType<typeof openLedger>;
  wallet: ReturnType<typeof openWallet>;
  walletService: Service;
  ledgerService: Service;
  relayers: Service[];
  /** Addresses of ledger and wallet service, for a test's own process. */
  addresses: { LEDGER_ADDRESS: string; WALLET_ADDRESS: string };
  /** The relayer's tables, for reading only. */
  relayerDb: Database;
  adminUrl: string;
  /** Paths of the key-encryption key and the relayer's key. */
  keyFiles: { kek: string; operator: string };
  /** Starts another replica of the ledger, on the same database. */
  addLedger(): Promise<{ ledger: World["ledger"]; close(): Promise<void> }>;
  /** Copies everything but the chain, with the same keys and the present data. Starts nothing. */
  copy(): Promise<WorldCopy>;
  close(): Promise<void>;
}

export interface WorldCopy {
  ledger: World["ledger"];
  /** Ledger, wallet service and one relayer, in starting order. */
  services: Service[];
  relayerDb: Database;
  close(): Promise<void>;
}

export interface WorldOptions {
  relayers?: number;
  /** Environment of every service. */
  env?: Record<string, string>;
  /** Chain URLs of the relayers, from the node's own URL. */
  rpcUrlsFor?: (url: string) => Promise<string> | string;
  relayerEnv?: Record<string, string>;
}

const SCHEMAS = [
  { name: "wallet", schema: "wallet" },
  { name: "ledger", schema: "ledger" },
  { name: "chain-relayer", schema: "chain_relayer" },
];
const PLENTY_WEI = `0x${(10n ** 24n).toString(16)}`;

export function openWorld(options: WorldOptions = {}): Promise<World> {
  return buildWorld((parts) => buildChain(parts, options));
}

async function buildChain(parts: Parts, options: WorldOptions): Promise<Omit<World, "close">> {
  const dir = parts.folder();
  const guard = await parts.use(startGuard(dir));
  const [node, database] = await Promise.all([startNode({ dir, guard }), makeDatabase(parts)]);
  parts.onClose(() => node.pause());
  const keys = writeKeys(dir, parts.kekFile());
  node.run(100);
  const contracts = await deploy(node, dir, keys);
  await node.pause();

  const [walletGrpc, ledgerGrpc] = [await randomFreePort(), await randomFreePort()];
  const rpcUrls = (await options.rpcUrlsFor?.(node.url)) ?? node.url;
  const common = {
    ...inheritedEnv(),
    // The failpoints of the build are only open to tests.
    NODE_ENV: "reltest",
    LOG_LEVEL: "info",
    BUS: "feed",
    OPS_HOST: "127.0.0.1",
    GRPC_HOST: "127.0.0.1",
    AUTH_ADDRESS: "127.0.0.1:1",
    WALLET_ADDRESS: `127.0.0.1:${walletGrpc}`,
    LEDGER_ADDRESS: `127.0.0.1:${ledgerGrpc}`,
    PAYMENT_ADDRESS: "127.0.0.1:1",
    CHAIN_ID: String(CHAIN_ID),
    CHAIN_RPC_URLS: rpcUrls,
    TOKEN_ADDRESS: contracts.tokenAddress,
    PAYMENT_MANAGER_ADDRESS: contracts.paymentManagerAddress,
    ...options.env,
  };
  const place = async (of: Parts, name: string, instance: string, env: Record<string, string>) => {
    const settings = { ...common, DATABASE_URL: database.urls[name]!, ...env };
    const service = await serviceAt({ name, instance, dir, guard, env: settings });
    of.onClose(() => service.kill());
    return service;
  };
  const placeRelayer = async (of: Parts, instance: string, env: Record<string, string>) =>
    place(of, "chain-relayer", instance, {
      GRPC_PORT: String(await randomFreePort()),
      OPERATOR_KEY_FILE: keys.operatorKeyFile,
      // The successor of a killed relayer waits for the end of its lease.
      LEASE_MS: "1000",
      ...options.relayerEnv,
      ...env,
    });

  const ledgerService = await place(parts, "ledger", "ledger", { GRPC_PORT: String(ledgerGrpc) });
  const walletService = await place(parts, "wallet", "wallet", {
    GRPC_PORT: String(walletGrpc),
    KEK_PATH: keys.kekFile,
  });
  const relayers = await Promise.all(
    Array.from({ length: options.relayers ?? 1 }, (_, number) =>
      placeRelayer(parts, `chain-relayer-${number}`, {}),
    ),
  );
  await Promise.all([ledgerService.start(), walletService.start()]);
  await Promise.all(relayers.map((relayer) => relayer.start()));

  return {
    node,
    contracts,
    operator: keys.operator,
    admin: keys.admin,
    ledger: openLedger(parts, common.LEDGER_ADDRESS),
    wallet: openWallet(parts, common.WALLET_ADDRESS),
    walletService,
    ledgerService,
    relayers,
    addresses: { LEDGER_ADDRESS: common.LEDGER_ADDRESS, WALLET_ADDRESS: common.WALLET_ADDRESS },
    relayerDb: await parts.use(openTestPool(database.adminUrl, "chain_relayer")),
    adminUrl: database.adminUrl,
    keyFiles: { kek: keys.kekFile, operator: keys.operatorKeyFile },
    addLedger: () =>
      parts.use(
        buildWorld(async (own) => {
          const port = String(await randomFreePort());
          const replica = await place(own, "ledger", "ledger-replica", { GRPC_PORT: port });
          await replica.start();
          return { ledger: openLedger(own, `127.0.0.1:${port}`) };
        }),
      ),
    copy: () =>
      parts.use(
        buildWorld(async (own) => {
          const copied = await database.copy();
          own.onClose(() => copied.drop());
          const relayerDb = await own.use(openTestPool(copied.adminUrl, "chain_relayer"));
          const [ledgerPort, walletPort] = [await randomFreePort(), await randomFreePort()];
          const addresses = {
            LEDGER_ADDRESS: `127.0.0.1:${ledgerPort}`,
            WALLET_ADDRESS: `127.0.0.1:${walletPort}`,
          };
          const at = (name: string) => ({ ...addresses, DATABASE_URL: copied.urls[name]! });
          const walletEnv = { GRPC_PORT: String(walletPort), KEK_PATH: keys.kekFile };
          const services = [
            await place(own, "ledger", "ledger-copy", { ...at("ledger"), GRPC_PORT: String(ledgerPort) }),
            await place(own, "wallet", "wallet-copy", { ...at("wallet"), ...walletEnv }),
            await placeRelayer(own, "chain-relayer-copy", at("chain-relayer")),
          ];
          return { ledger: openLedger(own, addresses.LEDGER_ADDRESS), services, relayerDb };
        }),
      ),
  };
}

function openLedger(parts: Parts, address: string) {
  return parts.client(LedgerServiceService, address, { name: "ledger", defaultTimeoutMs: 20_000 });
}

function openWallet(parts: Parts, address: string) {
  return parts.client(WalletServiceService, address, { name: "wallet", defaultTimeoutMs: 20_000 });
}

/** The three services keep their schemas in the same database, so that a test can copy it. */
async function makeDatabase(parts: Parts) {
  const clusterUrl = process.env.WONRAIL_TEST_POSTGRES_URL;
  if (clusterUrl === undefined)
    throw new Error("WONRAIL_TEST_POSTGRES_URL is not set: run through jest's int project");
  const name = `chain_${randomBytes(6).toString("hex")}`;
  const drop = (of: string) => onCluster(clusterUrl, `drop database if exists ${of} with (force)`);
  await onCluster(clusterUrl, `create database ${name}`);
  parts.onClose(() => drop(name));
  const url = new URL(clusterUrl);
  url.pathname = `/${name}`;
  const adminUrl = url.toString();
  const urls: Record<string, string> = {};
  for (const { name: service, schema } of SCHEMAS) {
    const provisioned = await provisionSchema({
      adminUrl,
      schema,
      rolePassword: "test",
      ownerPassword: "test",
    });
    const migrations = join(REPOSITORY, "services", service, "migrations");
    await migrate({ url: provisioned.ownerUrl, schema, dir: migrations, log: testLog() });
    urls[service] = provisioned.url;
  }
  return {
    adminUrl,
    urls,
    /** Copies the databases as they are; cut-off services reconnect. */
    async copy() {
      const to = `${name}_copy`;
      await onCluster(clusterUrl, `alter database ${name} with allow_connections false`);
      await onCluster(
        clusterUrl,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
      );
      await onCluster(clusterUrl, `create database ${to} template ${name}`);
      await onCluster(clusterUrl, `alter database ${name} with allow_connections true`);
      await onCluster(clusterUrl, `alter database ${to} with allow_connections true`);
      const at = (url: string) => url.replace(`/${name}`, `/${to}`);
      const copied = Object.entries(urls).map(([service, url]) => [service, at(url)]);
      return {
        adminUrl: at(adminUrl),
        urls: Object.fromEntries(copied) as Record<string, string>,
        drop: () => drop(to),
      };
    },
  };
}

async function onCluster(url: string, statement: string): Promise<void> {
  const cluster = openTestPool(url, "public");
  try {
    await cluster.run(rawSql(statement));
  } finally {
    await cluster.close();
  }
}

export function openTestPool(url: string, schema: string): Database {
  return openDatabase({
    url,
    schema,
    applicationName: "test",
    max: 3,
    idleInTransactionTimeoutMs: 60_000,
    statementTimeoutMs: 60_000,
    log: testLog(),
  });
}

interface Keys {
  kekFile: string;
  deployerKeyFile: string;
  adminKeyFile: string;
  operatorKeyFile: string;
  deployer: string;
  operator: string;
  admin: string;
}

function writeKeys(dir: string, kekFile: string): Keys {
  const write = (name: string, text: string) => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const [deployerKey, adminKey, operatorKey] = [newKey(), newKey(), newKey()];
  return {
    kekFile,
    deployerKeyFile: write("deployer.key", deployerKey),
    adminKeyFile: write("admin.key", adminKey),
    operatorKeyFile: write("operator.key", operatorKey),
    deployer: computeAddress(deployerKey),
    operator: computeAddress(operatorKey),
    admin: computeAddress(adminKey),
  };
}

function newKey(): string {
  return `0x${randomBytes(32).toString("hex")}`;
}

/** With the contracts workspace's own script, as every deployment. */
async function deploy(node: ChainNode, dir: string, keys: Keys): Promise<Contracts> {
  for (const address of [keys.deployer, keys.operator])
    await node.rpc("anvil_setBalance", [address, PLENTY_WEI]);
  const out = join(dir, "contracts.json");
  const args = [
    join(REPOSITORY, "contracts/bin/deploy.mjs"),
    ...["--rpc", node.url, "--key-file", keys.deployerKeyFile, "--out", out],
    ...["--admin-key-file", keys.adminKeyFile, "--operator-key-file", keys.operatorKeyFile],
  ];
  await promisify(execFile)(process.execPath, args, { env: inheritedEnv() });
  const { contracts } = JSON.parse(readFileSync(out, "utf8")) as {
    contracts: { WonToken: string; PaymentManager: string };
  };
  return { tokenAddress: contracts.WonToken, paymentManagerAddress: contracts.PaymentManager };
}

interface ServicePlace {
  name: string;
  instance: string;
  dir: string;
  guard: Guard;
  env: Record<string, string>;
}

async function serviceAt({ name, instance, dir, guard, env }: ServicePlace): Promise<Service> {
  const opsPort = await randomFreePort();
  const ops = `127.0.0.1:${opsPort}`;
  const logFile = join(process.env.WONRAIL_TEST_LOGS ?? dir, `${instance}.log`);
  let owned: OwnedProcess | undefined;
  return {
    ops,
    grpc: `127.0.0.1:${env.GRPC_PORT}`,
    logFile,
    async start(extra = {}) {
      owned = await startProcess(
        {
          name: instance,
          command: process.execPath,
          args: () => [...nodeFlags(name), "dist/main.js"],
          env: { ...env, OPS_PORT: String(opsPort), ...extra },
          cwd: join(REPOSITORY, "services", name),
          logFile,
          stopSignal: "SIGTERM",
          stopGraceMs: 20_000,
          readyTimeoutMs: 90_000,
          probe: () => assertReady(ops),
        },
        guard,
      );
    },
    async stop() {
      await owned?.stop();
    },
    async kill() {
      if (owned) signalGroup(owned.pid, "SIGKILL");
      await owned?.exited;
    },
    signal(signal) {
      if (owned) signalGroup(owned.pid, signal);
    },
    pid: () => owned!.pid,
    exited: () => owned!.exited,
  };
}
