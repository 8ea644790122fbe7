import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openDatabase, rawSql, sql } from "@wonrail/kit/db";
import { createClient } from "@wonrail/kit/grpc/client";
import { enumValue, type GrpcService, implement, startGrpcServer } from "@wonrail/kit/grpc/server";
import { newId } from "@wonrail/kit/contract/ids";
import { Registry } from "@wonrail/kit/metrics";
import { createTestDatabase, type TestDatabase, testLog } from "@wonrail/kit/testing";
import { AuthServiceService, Organisation } from "@wonrail/proto/auth/v1/auth";
import { LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { type ExecuteRequest, type ExecuteResponse } from "@wonrail/proto/payment/v1/payment";
import { OperationStatus, RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { WalletServiceService, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { type App, createApp } from "../../app";

/** The money half of the system in one process: the real payment, ledger and wallet services, each on a database of its own. */
export interface World {
  orgId: string;
  payment: TestDatabase;
  databases: Databases;
  /** The payment service that lives now. */
  app(): App;
  ledger(): Life["ledger"];
  wallet(): Life["wallet"];
  /** A wallet with its address, and with money when an amount is given. */
  openWallet(options?: {
    type?: keyof typeof TYPES;
    userId?: string;
    amountWon?: number;
  }): Promise<TestWallet>;
  execute(command: Command, idempotencyKey?: string): Promise<ExecuteResponse>;
  balances(...walletIds: string[]): Promise<number[]>;
  /** What chain-relayer says of an operation, whatever the bus has said. Of any other it says the same as that. */
  relayerSays: Map<string, "UNKNOWN" | "OPEN" | "CONFIRMED" | "FAILED">;
  /** Of the payment service that lives now. */
  metric(name: string): Promise<number>;
  /** What the ledger's invariants have to say; nothing, when all is well. */
  violations(): Promise<string[]>;
  /** They answer nobody from now on. */
  stop(...names: ServiceName[]): Promise<void>;
  /** Everything that runs dies on the spot, mid-statement; then it is started again. */
  crash(): Promise<void>;
  close(): Promise<void>;
}

export interface TestWallet {
  walletId: string;
  address: string;
  userId: string;
  /** Of the charge that gave it its money. */
  chargeId: string;
}

export type Command = NonNullable<ExecuteRequest["command"]>;

const CONTRACTS = {
  TOKEN_ADDRESS: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  PAYMENT_MANAGER_ADDRESS: "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
};
export const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const INCENTIVE_BPS = 500;

const TYPES = {
  NORMAL: WalletType.NORMAL,
  INCENTIVE: WalletType.INCENTIVE,
  GOVERNMENT: WalletType.GOVERNMENT,
};
const SERVICES = join(__dirname, "../../../..");
const log = testLog();

export async function openWorld(): Promise<World> {
  const orgId = newId("org");
  const dir = mkdtempSync(join(tmpdir(), "wonrail-payment-"));
  const kekPath = join(dir, "kek.json");
  const kek = { current: "test", keys: { test: randomBytes(32).toString("base64") } };
  writeFileSync(kekPath, JSON.stringify(kek), { mode: 0o600 });
  const [payment, ledger, wallet] = await Promise.all(["payment", "ledger", "wallet"].map(makeDatabase));
  const databases: Databases = { payment: payment!, ledger: ledger!, wallet: wallet! };
  const relayerSays: World["relayerSays"] = new Map();
  const start = () => startLife(databases, orgId, kekPath, { relayerSays });
  let life = await start();

  const world: World = {
    orgId,
    payment: databases.payment,
    databases,
    relayerSays,
    metric: (name) => life.metric(name),
    app: () => life.app,
    ledger: () => life.ledger,
    wallet: () => life.wallet,
    async openWallet({ type = "NORMAL", userId = randomUUID(), amountWon = 0 } = {}) {
      const request = { orgId, userId, walletType: TYPES[type], metadata: {} };
      const { walletId, walletAddress: address } = (await life.wallet.createWallet(request)).wallet!;
      if (amountWon === 0) return { walletId, address, userId, chargeId: "" };
      const charged = await world.execute({
        $case: "charge",
        value: { walletId, amountWon: String(amountWon), memo: undefined },
      });
      return { walletId, address, userId, chargeId: valueOf(charged, "charge").chargeId };
    },
    execute: (command, key) => life.app.execute(requestOf(orgId, command, key)),
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
    async close() {
      await life.die();
      await Promise.all([payment!, ledger!, wallet!].map((database) => database.drop()));
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return world;
}

/** One request as the gateway sends it. */
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

interface Databases {
  payment: TestDatabase;
  ledger: TestDatabase;
  wallet: TestDatabase;
}

interface LedgerVerify {
  verifyAll(db: Database): Promise<{ results: { violations: { what: string }[] }[] }>;
}

export type ServiceName = "ledger" | "wallet" | "auth" | "chain-relayer";

/** From a start of the processes to their death. */
type Life = Awaited<ReturnType<typeof startLife>>;

async function startLife(databases: Databases, orgId: string, kekPath: string, relayer: RelayerAtOurEdge) {
  const parts = () => ({ log, registry: new Registry() });
  const closers: (() => unknown)[] = [];
  const dead: Promise<unknown>[] = [];
  const servers = new Map<ServiceName, () => Promise<void>>();

  /** A pool of this life's own, whose connections end when it does. */
  async function open(name: keyof Databases): Promise<Database> {
    const { url, adminUrl } = databases[name];
    const applicationName = `life-${newId("req").slice(-12)}`;
    const db = openDatabase({ url, schema: name, applicationName, max: 8, log });
    closers.push(async () => {
      dead.push(db.close().catch(() => undefined));
      const admin = openDatabase({ url: adminUrl, schema: "public", applicationName: "test", max: 1, log });
      // They are gone when this is answered: what they had locked would be passed over by the next life.
      await admin.query(
        sql`select pg_terminate_backend(pid, 8000) from pg_stat_activity where application_name = ${applicationName}`,
      );
      await admin.close();
    });
    return db;
  }

  async function serve(name: ServiceName, services: GrpcService[]): Promise<string> {
    const server = await startGrpcServer({ host: "127.0.0.1", port: 0, services, ...parts() });
    servers.set(name, () => server.drain(0));
    closers.push(() => void dead.push(server.drain(0)));
    return `127.0.0.1:${server.port}`;
  }

  async function serveReal(name: "ledger" | "wallet", config: object): Promise<string> {
    const load = (file: string) => import(join(SERVICES, name, "src", file)) as Promise<Loaded>;
    const [made, doors] = [await load("app"), await load("rpc")];
    const onClose = (closer: string, close: () => unknown) =>
      void (closer.includes("client") && closers.push(close));
    return serve(
      name,
      doors.rpc(await made.createApp({ ...parts(), config, db: await open(name), onClose })),
    );
  }

  const ledgerAddress = await serveReal("ledger", { MAX_BATCH: 1_000, MAX_QUEUE: 20_000 });
  const walletAddress = await serveReal("wallet", {
    LEDGER_ADDRESS: ledgerAddress,
    KEK_PATH: kekPath,
    CHAIN_ID: 31337,
    TOKEN_ADDRESS: CONTRACTS.TOKEN_ADDRESS,
    SIGNING_HORIZON_MS: 3_600_000,
    SIGNING_LIMIT_WALLET_WON: 1n,
    SIGNING_LIMIT_ORGANISATION_WON: 1n,
    SIGNING_LIMIT_GLOBAL_WON: 1n,
  });
  const authAddress = await serve("auth", [authAtOurEdge(orgId)]);
  const addresses = {
    LEDGER_ADDRESS: ledgerAddress,
    WALLET_ADDRESS: walletAddress,
    AUTH_ADDRESS: authAddress,
    RELAYER_ADDRESS: await serve("chain-relayer", [relayerAtOurEdge(databases.payment, relayer)]),
  };
  const registry = new Registry();
  const app = createApp({
    ...{ log, registry },
    config: { ...addresses, ...CONTRACTS, NETWORK: "WON_TESTNET" } as never,
    db: await open("payment"),
    // What would wait for work that a crash has stopped is not closed.
    onClose: (name, close) => void (name === "clients" && closers.push(close)),
  });

  const client = { ...parts(), defaultTimeoutMs: 20_000 };
  const ledger = createClient(LedgerServiceService, { ...client, name: "to ledger", address: ledgerAddress });
  const wallet = createClient(WalletServiceService, { ...client, name: "to wallet", address: walletAddress });
  closers.push(() => [ledger, wallet].forEach((one) => one.close()));
  return {
    app,
    ledger,
    wallet,
    async metric(name: string) {
      const { values } = await registry.getSingleMetric(name)!.get();
      return values.reduce((sum, { value }) => sum + value, 0);
    },
    async stop(names: ServiceName[]) {
      await Promise.all(names.map((name) => servers.get(name)!()));
    },
    async die() {
      await Promise.all(closers.map((close) => close()));
      await Promise.race([Promise.all(dead), new Promise((resolve) => setTimeout(resolve, 50))]);
    },
  };
}

interface Loaded {
  createApp(parts: object): object | Promise<object>;
  rpc(app: object): GrpcService[];
}

/** All that payment asks of auth, and only before an organisation's first event has arrived. */
function authAtOurEdge(orgId: string): GrpcService {
  return implement(AuthServiceService, {
    getOrganisation: async () => ({
      organisation: Organisation.fromPartial({
        orgId,
        dailyTransferLimitWon: "5000000",
        incentiveRateBps: INCENTIVE_BPS,
        version: 1n,
      }),
      subscriptionActive: true,
    }),
  });
}

type RelayerAtOurEdge = Pick<World, "relayerSays">;

/** All that payment asks of chain-relayer. What was not said otherwise is as the events have it. */
function relayerAtOurEdge({ db }: TestDatabase, { relayerSays }: RelayerAtOurEdge): GrpcService {
  return implement(RelayerServiceService, {
    async getOperations({ refs }) {
      const told = await db.query<{ ref: string; status: string }>(sql`
        select ledger_ref as ref, status from settlements where ledger_ref = any(${refs.map(({ ledgerRef }) => ledgerRef)}::text[])`);
      const statuses = new Map([...told.map(({ ref, status }) => [ref, status] as const), ...relayerSays]);
      return {
        operations: refs.flatMap((ref) => {
          const status = statuses.get(ref.ledgerRef) ?? "UNKNOWN";
          return status === "UNKNOWN" ? [] : [{ ref, status: enumValue(OperationStatus, status) }];
        }),
      };
    },
  });
}

function makeDatabase(name: string): Promise<TestDatabase> {
  return createTestDatabase({ schema: name, migrations: join(SERVICES, name, "migrations") });
}

/** As the cluster's superuser, for what a test has to make older than it is. */
export async function asOwner(database: TestDatabase, statement: string): Promise<void> {
  const admin = openDatabase({
    url: database.adminUrl,
    schema: "payment",
    applicationName: "test",
    max: 1,
    log,
  });
  await admin.run(rawSql(statement));
  await admin.close();
}

/** What the clock's job does, five seconds later. */
export async function complete(world: World): Promise<void> {
  await asOwner(
    world.payment,
    "update operations set updated_at = now() - interval '6 seconds' where state = 'CLAIMED'",
  );
  await world.app().finishAbandoned();
}
