import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { type Database, openDatabase, rawSql, sql } from "@wonrail/kit/db";
import { createClient } from "@wonrail/kit/grpc/client";
import { enumValue, type GrpcService, implement, startGrpcServer } from "@wonrail/kit/grpc/server";
import { newId } from "@wonrail/kit/contract/ids";
import { Registry } from "@wonrail/kit/metrics";
import { openTestDatabase, type TestDatabase, testLog } from "@wonrail/kit/testing";
import { buildWorld, type Parts } from "@wonrail/kit/testing/buildWorld";
import { AuthServiceService, Organisation } from "@wonrail/proto/auth/v1/auth";
import { LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { type ExecuteRequest, type ExecuteResponse } from "@wonrail/proto/payment/v1/payment";
import { OperationStatus, RelayerServiceService, type Settlement } from "@wonrail/proto/relayer/v1/relayer";
import { WalletServiceService, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { type App, createApp } from "../../app";
import { charge } from "./commands";

/** The real payment, ledger and wallet services in one process, each on its own database. */
export interface World {
  orgId: string;
  databases: Databases;
  /** One of payment's two replicas. */
  app(replica?: 0 | 1): App;
  /** The pool of payment's first replica. It dies with the replica. */
  db(): Database;
  ledger(): Life["ledger"];
  wallet(): Life["wallet"];
  /** Opens a wallet with its address, and funds it when an amount is given. */
  openWallet(options?: {
    type?: keyof typeof TYPES;
    userId?: string;
    amountWon?: number;
  }): Promise<TestWallet>;
  execute(command: Command, idempotencyKey?: string): Promise<ExecuteResponse>;
  balances(...walletIds: string[]): Promise<number[]>;
  /** Answers of chain-relayer about operations. The events decide for an absent operation. */
  relayerStatuses: Map<string, "UNKNOWN" | "OPEN" | "CONFIRMED" | "FAILED">;
  /** The settlements that chain-relayer lists, by ledger reference. */
  relayerLists: Map<string, Settlement>;
  /** Sum over all labels, of payment's first replica. */
  metric(name: string): Promise<number>;
  /** Violated invariants of the ledger. */
  violations(): Promise<string[]>;
  /** Stops the servers of these services. */
  stop(...names: ServiceName[]): Promise<void>;
  /** Kills everything in the middle of its work and starts it again. */
  crash(): Promise<void>;
  /** Replaces payment's database by an empty one, as after a loss without a backup. */
  loseDatabase(): Promise<void>;
  close(): Promise<void>;
}

export interface TestWallet {
  walletId: string;
  address: string;
  userId: string;
  /** The charge that funded the wallet. */
  chargeId: string;
}

export type Command = NonNullable<ExecuteRequest["command"]>;

const CONTRACTS = {
  TOKEN_ADDRESS: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  PAYMENT_MANAGER_ADDRESS: "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
};
export const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const INCENTIVE_BPS = 500;
/** As in the main of the ledger. */
const MAX_TOGETHER_BYTES = 12 * 1024 * 1024;

const TYPES = {
  NORMAL: WalletType.NORMAL,
  INCENTIVE: WalletType.INCENTIVE,
  GOVERNMENT: WalletType.GOVERNMENT,
};
const SERVICES = join(__dirname, "../../../..");
const log = testLog();

export function openWorld(): Promise<World> {
  return buildWorld(buildPayment);
}

async function buildPayment(parts: Parts): Promise<Omit<World, "close">> {
  const orgId = newId("org");
  const kekPath = parts.kekFile();
  const makeDatabase = (schema: ServiceSchema) =>
    parts.database({ schema, migrations: join(SERVICES, schema, "migrations") });
  const [payment, ledger, wallet] = await Promise.all([
    makeDatabase("payment"),
    makeDatabase("ledger"),
    makeDatabase("wallet"),
  ]);
  const databases: Databases = { payment, ledger, wallet };
  const relayerStatuses: World["relayerStatuses"] = new Map();
  const relayerLists: World["relayerLists"] = new Map();
  const start = () => startLife(parts, databases, { orgId, kekPath, relayerStatuses, relayerLists });
  let life = await start();

  const world: Omit<World, "close"> = {
    orgId,
    databases,
    relayerStatuses,
    relayerLists,
    metric: (name) => life.metric(name),
    app: (replica = 0) => life.apps[replica]!,
    db: () => life.pools[0]!,
    ledger: () => life.ledger,
    wallet: () => life.wallet,
    async openWallet({ type = "NORMAL", userId = randomUUID(), amountWon = 0 } = {}) {
      const request = { orgId, userId, walletType: TYPES[type], metadata: {} };
      const { walletId, walletAddress: address } = (await life.wallet.createWallet(request)).wallet!;
      if (amountWon === 0) return { walletId, address, userId, chargeId: "" };
      const charged = await world.execute(charge(walletId, amountWon));
      return { walletId, address, userId, chargeId: valueOf(charged, "charge").chargeId };
    },
    execute: (command, key) => world.app().execute(requestOf(orgId, command, key)),
    async balances(...accountIds) {
      const { accounts } = await life.ledger.getBalances({ orgId, accountIds });
      const found = new Map(accounts.map((account) => [account.accountId, Number(account.balanceWon)]));
      return accountIds.map((id) => found.get(id) ?? NaN);
    },
    async violations() {
      const verify = (await import(join(SERVICES, "ledger/src/queries/verify"))) as LedgerVerify;
      const { results } = await verify.verifyAll(databases.ledger.db);
      return results.flatMap(({ violations }) => violations.map(({ what }) => what));
    },
    stop: (...names) => life.stop(names),
    async crash() {
      await life.die();
      life = await start();
    },
    async loseDatabase() {
      await life.die();
      databases.payment = await makeDatabase("payment");
      life = await start();
    },
  };
  return world;
}

/** A request as the gateway sends it. */
export function requestOf(orgId: string, command: Command, idempotencyKey?: string): ExecuteRequest {
  return {
    context: { orgId, requestId: newId("req"), traceparent: "" },
    idempotencyKey,
    bodyHash: createHash("sha256").update(JSON.stringify(command)).digest(),
    command,
  };
}

type Outcome = NonNullable<ExecuteResponse["outcome"]>;
type ValueOf<C extends Outcome["$case"]> = Extract<Outcome, { $case: C }>["value"];

export function valueOf<C extends Outcome["$case"]>({ outcome }: ExecuteResponse, wanted: C): ValueOf<C> {
  if (outcome?.$case !== wanted) throw new Error(`${wanted} was answered by ${JSON.stringify(outcome)}`);
  return outcome.value as ValueOf<C>;
}

type ServiceSchema = "payment" | "ledger" | "wallet";
type Databases = Record<ServiceSchema, TestDatabase>;

interface LedgerVerify {
  verifyAll(db: Database): Promise<{ results: { violations: { what: string }[] }[] }>;
}

export type ServiceName = "ledger" | "wallet" | "auth" | "chain-relayer";

/** From a start of the processes to their death. */
type Life = Awaited<ReturnType<typeof startLife>>;

async function startLife(
  { onClose }: Parts,
  databases: Databases,
  given: Pick<World, "orgId" | "relayerStatuses" | "relayerLists"> & { kekPath: string },
) {
  const parts = () => ({ log, registry: new Registry() });
  const closers: (() => unknown)[] = [];
  const dead: Promise<unknown>[] = [];
  const servers = new Map<ServiceName, () => Promise<void>>();
  let died: Promise<void> | undefined;
  /** Ends all parts at the same time, as a crash does. */
  const die = () => (died ??= dieOnce());
  onClose(die);

  async function dieOnce(): Promise<void> {
    await Promise.all(closers.map((close) => close()));
    await Promise.race([Promise.all(dead), new Promise((resolve) => setTimeout(resolve, 50))]);
  }

  /** Opens a pool whose connections end with this life of the process. */
  async function open(name: ServiceSchema): Promise<Database> {
    const { url, adminUrl } = databases[name];
    const applicationName = `life-${newId("req").slice(-12)}`;
    const db = openDatabase({ url, schema: name, applicationName, max: 8, log });
    closers.push(async () => {
      dead.push(db.close().catch(() => undefined));
      const admin = openDatabase({ url: adminUrl, schema: "public", applicationName: "test", max: 1, log });
      // Waits for their end, so that the next life does not meet their locks.
      await admin.query(
        sql`select pg_terminate_backend(pid, 8000) from pg_stat_activity where application_name = ${applicationName}`,
      );
      await admin.close();
    });
    return db;
  }

  async function serve(name: ServiceName, services: GrpcService[]): Promise<string> {
    const maxMessageBytes = MAX_TOGETHER_BYTES;
    const server = await startGrpcServer({
      host: "127.0.0.1",
      port: 0,
      services,
      maxMessageBytes,
      ...parts(),
    });
    servers.set(name, () => server.drain(0));
    closers.push(() => void dead.push(server.drain(0)));
    return `127.0.0.1:${server.port}`;
  }

  async function serveReal(name: "ledger" | "wallet", config: object): Promise<string> {
    const load = (file: string) => import(join(SERVICES, name, "src", file)) as Promise<Loaded>;
    const [made, doors] = [await load("app"), await load("rpc")];
    const onClose = (closer: string, close: () => unknown) =>
      void (/client|scans/.test(closer) && closers.push(close));
    return serve(
      name,
      doors.rpc(await made.createApp({ ...parts(), config, db: await open(name), onClose })),
    );
  }

  const ledgerAddress = await serveReal("ledger", {
    ...{
      BATCH_QUEUES: 2,
      MAX_BATCH: 1_000,
      MAX_QUEUE: 20_000,
      MAX_CHARGED_PER_DAY_WON: 1e12,
      DATABASE_URL: databases.ledger.url,
    },
  });
  const walletAddress = await serveReal("wallet", {
    LEDGER_ADDRESS: ledgerAddress,
    KEK_PATH: given.kekPath,
    CHAIN_ID: 31337,
    TOKEN_ADDRESS: CONTRACTS.TOKEN_ADDRESS,
    SIGNING_HORIZON_MS: 3_600_000,
    SIGNING_LIMIT_WALLET_WON: 1n,
    SIGNING_LIMIT_ORGANISATION_WON: 1n,
    SIGNING_LIMIT_GLOBAL_WON: 1n,
  });
  const authAddress = await serve("auth", [fakeAuth(given.orgId)]);
  const addresses = {
    LEDGER_ADDRESS: ledgerAddress,
    WALLET_ADDRESS: walletAddress,
    AUTH_ADDRESS: authAddress,
    RELAYER_ADDRESS: await serve("chain-relayer", [fakeRelayer(databases.payment, given)]),
  };
  const registries = [new Registry(), new Registry()];
  const apps: App[] = [];
  const pools: Database[] = [];
  for (const registry of registries) {
    const db = await open("payment");
    pools.push(db);
    const config = { ...addresses, ...CONTRACTS, NETWORK: "WON_TESTNET" } as never;
    // A crash does not wait for the work in the queues, so only the clients are closed.
    const onClose = (name: string, close: () => unknown) => void (name === "clients" && closers.push(close));
    apps.push(createApp({ log, registry, config, db, onClose }));
  }

  const client = { ...parts(), defaultTimeoutMs: 20_000 };
  const ledger = createClient(LedgerServiceService, { ...client, name: "to ledger", address: ledgerAddress });
  const wallet = createClient(WalletServiceService, { ...client, name: "to wallet", address: walletAddress });
  closers.push(() => [ledger, wallet].forEach((one) => one.close()));
  return {
    apps,
    pools,
    ledger,
    wallet,
    async metric(name: string) {
      const { values } = await registries[0]!.getSingleMetric(name)!.get();
      return values.reduce((sum, { value }) => sum + value, 0);
    },
    async stop(names: ServiceName[]) {
      await Promise.all(names.map((name) => servers.get(name)!()));
    },
    die,
  };
}

interface Loaded {
  createApp(parts: object): object | Promise<object>;
  rpc(app: object): GrpcService[];
}

/** Payment asks auth for the policy before the organisation's first event arrives. */
function fakeAuth(orgId: string): GrpcService {
  return implement(AuthServiceService, {
    getOrganisation: async () => ({
      organisation: Organisation.fromPartial({
        orgId,
        dailyTransferLimitWon: "5000000",
        dailyChargeLimitWon: "1000000000",
        maxChargeWon: "1000000000",
        incentiveRateBps: INCENTIVE_BPS,
        version: 1n,
      }),
      subscriptionActive: true,
    }),
  });
}

/** Payment asks chain-relayer before it ends a hold, and lists settlements in a rebuild. */
function fakeRelayer(
  { db }: TestDatabase,
  { relayerStatuses, relayerLists }: Pick<World, "relayerStatuses" | "relayerLists">,
): GrpcService {
  return implement(RelayerServiceService, {
    async getOperations({ refs }) {
      const rows = await db.query<{ ref: string; status: string }>(sql`
        select ledger_ref as ref, status from settlements where ledger_ref = any(${refs.map(({ ledgerRef }) => ledgerRef)}::text[])`);
      const statuses = new Map([
        ...rows.map(({ ref, status }) => [ref, status] as const),
        ...relayerStatuses,
      ]);
      return {
        operations: refs.flatMap((ref) => {
          const status = statuses.get(ref.ledgerRef) ?? "UNKNOWN";
          return status === "UNKNOWN" ? [] : [{ ref, status: enumValue(OperationStatus, status) }];
        }),
      };
    },
    async listSettlements({ afterLedgerRef = "", limit }) {
      const refs = [...relayerLists.keys()].filter((ref) => ref > afterLedgerRef).sort();
      // Several pages, also of a small world.
      return { settlements: refs.slice(0, Math.min(limit, 10)).map((ref) => relayerLists.get(ref)!) };
    },
  });
}

/** Runs a statement as the superuser, to change rows behind the service's back. */
export async function asOwner(database: TestDatabase, statement: string): Promise<void> {
  const admin = openTestDatabase(database.adminUrl, "payment", { max: 1 });
  await admin.run(rawSql(statement));
  await admin.close();
}
