import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Database, openDatabase, rawSql } from "@wonrail/kit/db";
import { createClient } from "@wonrail/kit/grpc/client";
import { migrate, provisionSchema } from "@wonrail/kit/migrate";
import { testLog, testRegistry } from "@wonrail/kit/testing";
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
  /** Id of the running process. */
  pid(): number;
  exited(): Promise<unknown>;
  logFile: string;
}

/**
 * The settlement half of the system for one test: its own database, its own chain, and the built
 * services as processes.
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

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), "wonrail-chain-"));
  chmodSync(dir, 0o700);
  const guard = startGuard(dir);
  const [node, database] = await Promise.all([startNode({ dir, guard }), makeDatabase()]);
  const keys = writeKeys(dir);
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
  const place = (name: string, instance: string, env: Record<string, string>) =>
    serviceAt({ name, instance, dir, guard, env: { ...common, DATABASE_URL: database.urls[name]!, ...env } });
  const placeRelayer = async (instance: string, env: Record<string, string>) =>
    place("chain-relayer", instance, {
      GRPC_PORT: String(await randomFreePort()),
      OPERATOR_KEY_FILE: keys.operatorKeyFile,
      // The successor of a killed relayer waits for the end of its lease.
      LEASE_MS: "1000",
      ...options.relayerEnv,
      ...env,
    });

  const ledgerService = await place("ledger", "ledger", { GRPC_PORT: String(ledgerGrpc) });
  const walletService = await place("wallet", "wallet", {
    GRPC_PORT: String(walletGrpc),
    KEK_PATH: keys.kekFile,
  });
  const relayers = await Promise.all(
    Array.from({ length: options.relayers ?? 1 }, (_, number) => placeRelayer(`chain-relayer-${number}`, {})),
  );
  await Promise.all([ledgerService.start(), walletService.start()]);
  await Promise.all(relayers.map((relayer) => relayer.start()));

  const ledger = openLedger(`127.0.0.1:${ledgerGrpc}`);
  const wallet = openWallet(`127.0.0.1:${walletGrpc}`);
  const relayerDb = openTestPool(database.adminUrl, "chain_relayer");
  return {
    node,
    contracts,
    operator: keys.operator,
    admin: keys.admin,
    ledger,
    wallet,
    walletService,
    ledgerService,
    relayers,
    addresses: { LEDGER_ADDRESS: common.LEDGER_ADDRESS, WALLET_ADDRESS: common.WALLET_ADDRESS },
    relayerDb,
    adminUrl: database.adminUrl,
    keyFiles: { kek: keys.kekFile, operator: keys.operatorKeyFile },
    async addLedger() {
      const port = await randomFreePort();
      const replica = await place("ledger", "ledger-replica", { GRPC_PORT: String(port) });
      await replica.start();
      const client = openLedger(`127.0.0.1:${port}`);
      return {
        ledger: client,
        async close() {
          client.close();
          await replica.kill();
        },
      };
    },
    async copy() {
      const copied = await database.copy();
      const [ledgerPort, walletPort] = [await randomFreePort(), await randomFreePort()];
      const at = (name: string) => ({
        LEDGER_ADDRESS: `127.0.0.1:${ledgerPort}`,
        WALLET_ADDRESS: `127.0.0.1:${walletPort}`,
        DATABASE_URL: copied.urls[name]!,
      });
      const services = [
        await place("ledger", "ledger-copy", { ...at("ledger"), GRPC_PORT: String(ledgerPort) }),
        await place("wallet", "wallet-copy", {
          ...at("wallet"),
          GRPC_PORT: String(walletPort),
          KEK_PATH: keys.kekFile,
        }),
        await placeRelayer("chain-relayer-copy", at("chain-relayer")),
      ];
      const copyLedger = openLedger(`127.0.0.1:${ledgerPort}`);
      const copyDb = openTestPool(copied.adminUrl, "chain_relayer");
      return {
        ledger: copyLedger,
        services,
        relayerDb: copyDb,
        async close() {
          copyLedger.close();
          await Promise.all(services.map((service) => service.kill()));
          await copyDb.close();
          await copied.drop();
        },
      };
    },
    async close() {
      ledger.close();
      wallet.close();
      await node.pause();
      await Promise.all([...relayers, walletService, ledgerService].map((service) => service.kill()));
      await relayerDb.close();
      guard.close();
      await database.drop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function openLedger(address: string) {
  return createClient(LedgerServiceService, { ...CLIENT(), name: "ledger", address });
}

function openWallet(address: string) {
  return createClient(WalletServiceService, { ...CLIENT(), name: "wallet", address });
}

const CLIENT = () => ({
  log: testLog(),
  registry: testRegistry(),
  defaultTimeoutMs: 20_000,
});

async function makeDatabase() {
  const clusterUrl = process.env.WONRAIL_TEST_POSTGRES_URL;
  if (clusterUrl === undefined)
    throw new Error("WONRAIL_TEST_POSTGRES_URL is not set: run through jest's int project");
  const name = `chain_${randomBytes(6).toString("hex")}`;
  await onCluster(clusterUrl, `create database ${name}`);
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
  const drop = (of: string) => onCluster(clusterUrl, `drop database if exists ${of} with (force)`);
  return {
    adminUrl,
    urls,
    drop: () => drop(name),
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

function writeKeys(dir: string): Keys {
  const write = (name: string, text: string) => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const [deployerKey, adminKey, operatorKey] = [newKey(), newKey(), newKey()];
  const kek = { current: "test", keys: { test: randomBytes(32).toString("base64") } };
  return {
    kekFile: write("kek.json", JSON.stringify(kek)),
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
