import { join } from "node:path";
import { createApp as createAuth } from "@wonrail/auth/app";
import { TOPICS as authTopics } from "@wonrail/auth/events";
import { rpc as authRpc } from "@wonrail/auth/rpc";
import { TOPICS as relayerTopics } from "@wonrail/chain-relayer/events";
import { createRecord } from "@wonrail/chain-relayer/records/commands/createRecord";
import { type WalletFinder } from "@wonrail/chain-relayer/records/commands/findNormalWallets";
import { createFaucet } from "@wonrail/chain-relayer/evm/faucet";
import { setClock } from "@wonrail/chain-relayer/records/commands/testClock";
import { updateRecordMetadata } from "@wonrail/chain-relayer/records/commands/updateRecordMetadata";
import { updateRecordSchedule } from "@wonrail/chain-relayer/records/commands/updateRecordSchedule";
import { updateRecordStatus } from "@wonrail/chain-relayer/records/commands/updateRecordStatus";
import { orderSettlement } from "@wonrail/chain-relayer/settlement/commands/orderSettlement";
import { getOperations } from "@wonrail/chain-relayer/settlement/queries/getOperations";
import { listSettlements } from "@wonrail/chain-relayer/settlement/queries/listSettlements";
import { getRecord } from "@wonrail/chain-relayer/records/queries/getRecord";
import { listRecords } from "@wonrail/chain-relayer/records/queries/listRecords";
import { rpc as relayerRpc } from "@wonrail/chain-relayer/rpc";
import { depositFromFaucet } from "@wonrail/chain-relayer/x402/commands/depositFromFaucet";
import { settlePayment } from "@wonrail/chain-relayer/x402/commands/settlePayment";
import { verifyPayment } from "@wonrail/chain-relayer/x402/commands/verifyPayment";
import { getSupport } from "@wonrail/chain-relayer/x402/queries/getSupport";
import { type Topic } from "@wonrail/kit/bus";
import { createApp as createEvents } from "@wonrail/events/app";
import { rpc as eventsRpc } from "@wonrail/events/rpc";
import { buildWorld, type Parts } from "@wonrail/kit/testing/buildWorld";
import { makeAuthority } from "@wonrail/kit/testing/certificates";
import {
  type GrpcServer,
  type GrpcService,
  type ServerCall,
  startGrpcServer,
} from "@wonrail/kit/grpc/server";
import { createFeed } from "@wonrail/kit/outbox";
import { callersOf } from "@wonrail/kit/service";
import { type TestDatabase, testLog, testRegistry } from "@wonrail/kit/testing";
import { createApp as createLedger } from "@wonrail/ledger/app";
import { TOPICS as ledgerTopics } from "@wonrail/ledger/events";
import { rpc as ledgerRpc } from "@wonrail/ledger/rpc";
import { createApp as createPayment } from "@wonrail/payment/app";
import { TOPICS as paymentTopics } from "@wonrail/payment/events";
import { rpc as paymentRpc } from "@wonrail/payment/rpc";
import { WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import { createApp as createWallet } from "@wonrail/wallet/app";
import { TOPICS as walletTopics } from "@wonrail/wallet/events";
import { rpc as walletRpc } from "@wonrail/wallet/rpc";
import { PROCESSES } from "../../ops/repository";

/**
 * The five services in one process, each real on its own Postgres, with mutual TLS and their usual
 * calls.
 */
export interface Services {
  auth: Awaited<ReturnType<typeof createAuth>>;
  events: Awaited<ReturnType<typeof createEvents>>;
  databases: ReadonlyMap<string, TestDatabase>;
  addressOf(name: string): string;
  /** Every call that has reached a service, as "caller → path". */
  served: ReadonlySet<string>;
  close(): Promise<void>;
}

export const CHAIN = {
  CHAIN_ID: 31_337,
  NETWORK: "WON_TESTNET",
  TOKEN_ADDRESS: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  PAYMENT_MANAGER_ADDRESS: "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
};

const authority = makeAuthority("wonrail test authority");

/** The certificate of the process of this name. */
export function identityOf(name: string) {
  return authority.issue(name, [`DNS:${name}`]);
}

export function parts() {
  return { log: testLog(), registry: testRegistry() };
}

/**
 * Starts a gRPC server like `runService`: by certificate, for the callers in proto/callers.json.
 */
export function serve(name: string, services: GrpcService[]): Promise<GrpcServer> {
  const door = { host: "127.0.0.1", port: 0, tls: identityOf(name), callers: callersOf(name, services) };
  return startGrpcServer({ ...door, services, ...parts() });
}

export function startServices(network = CHAIN.NETWORK): Promise<Services> {
  return buildWorld((parts) => buildServices(parts, network));
}

async function buildServices(open: Parts, network: string): Promise<Omit<Services, "close">> {
  const databases = await makeDatabases(open);
  const addresses = new Map<string, string>();
  const served = new Set<string>();
  const addressOf = (name: string) => addresses.get(name)!;
  const start = async (name: string, services: GrpcService[]) => {
    const noted = services.map((service) => noting(service, served));
    const { address } = await open.server(noted, { tls: identityOf(name), callers: callersOf(name, noted) });
    addresses.set(name, address);
  };
  const partsOf = (name: string, config: object) => ({
    ...parts(),
    config: { ...CHAIN, NETWORK: network, ...config } as never,
    db: databases.get(name)!.db,
    tls: identityOf(name),
  });
  const feedOf = (name: string, [topic]: readonly Topic[]) => {
    const feed = createFeed({ db: databases.get(name)!.db, topic: topic! });
    open.onClose(() => feed.close());
    return feed.service;
  };

  const keys = { KEY_MODE: "test", KEY_LIFETIME_HOURS: 1, KEY_OVERLAP_MS: 600_000 };
  const auth = await open.app((onClose) => createAuth({ ...partsOf("auth", keys), onClose }));
  await start("auth", [...authRpc(auth), feedOf("auth", authTopics)]);
  const ledgerSettings = {
    BATCH_QUEUES: 2,
    MAX_BATCH: 1_000,
    MAX_QUEUE: 20_000,
    MAX_CHARGED_PER_DAY_WON: 1e12,
  };
  const ledger = await open.app((onClose) => createLedger({ ...partsOf("ledger", ledgerSettings), onClose }));
  await start("ledger", [...ledgerRpc(ledger), feedOf("ledger", ledgerTopics)]);
  const custody = { ...SIGNING, KEK_PATH: open.kekFile(), LEDGER_ADDRESS: addressOf("ledger") };
  const wallet = open.app((onClose) => createWallet({ ...partsOf("wallet", custody), onClose }));
  await start("wallet", [...walletRpc(wallet), feedOf("wallet", walletTopics)]);
  const behind = {
    AUTH_ADDRESS: addressOf("auth"),
    WALLET_ADDRESS: addressOf("wallet"),
    LEDGER_ADDRESS: addressOf("ledger"),
  };
  const wallets = open.client(WalletServiceService, addressOf("wallet"), {
    name: "wallet",
    tls: identityOf("chain-relayer"),
  });
  const relayer = relayerRpc(recording(databases.get("chain-relayer")!, wallets));
  await start("chain-relayer", [...relayer, feedOf("chain-relayer", relayerTopics)]);
  const settling = { ...behind, RELAYER_ADDRESS: addressOf("chain-relayer") };
  const payment = open.app((onClose) => createPayment({ ...partsOf("payment", settling), onClose }));
  await start("payment", [...paymentRpc(payment, testLog()), feedOf("payment", paymentTopics)]);
  const webhooks = { WEBHOOK_KEK_PATH: open.kekFile(), WEBHOOK_ALLOW_LOOPBACK: true };
  const events = await open.app((onClose) => createEvents({ ...partsOf("events", webhooks), onClose }));
  await start("events", eventsRpc(events));

  open.onClose(() => auth.endWatches());
  return { auth, events, databases, addressOf, served };
}

const SIGNING = {
  SIGNING_HORIZON_MS: 3_600_000,
  SIGNING_LIMIT_WALLET_WON: 10_000_000n,
  SIGNING_LIMIT_ORGANISATION_WON: 100_000_000n,
  SIGNING_LIMIT_GLOBAL_WON: 1_000_000_000n,
};

async function makeDatabases(open: Parts): Promise<Map<string, TestDatabase>> {
  const databases = new Map<string, TestDatabase>();
  for (const { name, folder, schema } of PROCESSES) {
    if (schema === undefined) continue;
    const migrations = join(__dirname, "../../..", folder, "migrations");
    databases.set(name, await open.database({ schema, migrations }));
  }
  return databases;
}

/** The dependencies of chain-relayer's RPCs. The whole app would not start without a chain. */
function recording({ db }: TestDatabase, wallet: WalletFinder): Parameters<typeof relayerRpc>[0] {
  const chain = {
    network: CHAIN.NETWORK,
    chainId: BigInt(CHAIN.CHAIN_ID),
    tokenAddress: CHAIN.TOKEN_ADDRESS,
    paymentManagerAddress: CHAIN.PAYMENT_MANAGER_ADDRESS,
  };
  const provider = {
    latestBlock: async () => ({ number: 1n, time: 0n }),
    // The token is not paused. Each authorization is unused, its payer rich and nobody blocked.
    callManyAt: async (_to: string, asked: string[]) =>
      asked.map((_, index) => (index % 4 === 2 ? "0xffffffffffffffff" : "0x0")),
  };
  const deps = {
    ...{ db, chain, provider, wallet, now: Date.now, signer: { address: CHAIN.TOKEN_ADDRESS } },
    ...{
      faucet: createFaucet(`0x${"11".repeat(32)}`),
      x402GasPerDay: 10n ** 12n,
      onPlanned: () => undefined,
    },
  };
  const bind =
    <I, O>(work: (of: typeof deps, input: I) => O) =>
    (input: I) =>
      work(deps, input);
  const commands = {
    createRecord: bind(createRecord),
    updateRecordStatus: bind(updateRecordStatus),
    updateRecordMetadata: bind(updateRecordMetadata),
    updateRecordSchedule: bind(updateRecordSchedule),
    getOperations: bind(getOperations),
    listSettlements: bind(listSettlements),
    getRecord: bind(getRecord),
    listRecords: bind(listRecords),
    getX402Support: () => getSupport(deps),
    verifyX402Payment: bind(verifyPayment as never),
    settleX402Payment: bind(settlePayment as never),
    sandbox: {
      setClock: bind(setClock),
      orderSettlement: bind(orderSettlement),
      depositFromFaucet: bind(depositFromFaucet as never),
    },
  };
  return commands as unknown as Parameters<typeof relayerRpc>[0];
}

/** The real service, with a record of each served call. */
function noting({ definition, handlers }: GrpcService, served: Set<string>): GrpcService {
  const noted = Object.entries(handlers).map(([name, handle]) => {
    const { path } = definition[name]!;
    return [
      name,
      (request: never, call: ServerCall) => {
        served.add(`${call.caller} → ${path.slice(1)}`);
        return handle!(request, call);
      },
    ];
  });
  return { definition, handlers: Object.fromEntries(noted) as GrpcService["handlers"] };
}
