import { join } from "node:path";
import { createOperations } from "@wonrail/auth/app";
import { adminRpc as authAdmin } from "@wonrail/auth/adminRpc";
import { adminRpc as relayerAdmin } from "@wonrail/chain-relayer/adminRpc";
import { createChainDouble, OPERATOR, TOKEN } from "@wonrail/chain-relayer/testing/chainDouble";
import { adminRpc as eventsAdmin } from "@wonrail/events/adminRpc";
import { createAdminService } from "@wonrail/kit/admin";
import { type Database, rawSql } from "@wonrail/kit/db";
import { type GrpcService } from "@wonrail/kit/grpc/server";
import { createLog } from "@wonrail/kit/log";
import { testRegistry } from "@wonrail/kit/testing";
import { buildWorld, type Parts } from "@wonrail/kit/testing/buildWorld";
import { adminRpc as ledgerAdmin } from "@wonrail/ledger/adminRpc";
import { createApp as createLedger } from "@wonrail/ledger/app";
import { rpc as ledgerRpc } from "@wonrail/ledger/rpc";
import { ensureOrgAccounts } from "@wonrail/ledger/store/accounts";
import { adminRpc as paymentAdmin } from "@wonrail/payment/adminRpc";
import { createApp as createPayment } from "@wonrail/payment/app";
import { AuthAdminServiceService } from "@wonrail/proto/auth/v1/admin";
import { AdminServiceService } from "@wonrail/proto/common/v1/admin";
import { EventsAdminServiceService } from "@wonrail/proto/events/v1/admin";
import { LedgerAdminServiceService } from "@wonrail/proto/ledger/v1/admin";
import { PaymentAdminServiceService } from "@wonrail/proto/payment/v1/admin";
import { RelayerAdminServiceService } from "@wonrail/proto/relayer/v1/admin";
import { WalletAdminServiceService } from "@wonrail/proto/wallet/v1/admin";
import { adminRpc as walletAdmin } from "@wonrail/wallet/adminRpc";
import { createApp as createWallet } from "@wonrail/wallet/app";
import { open } from "../ledger/world";
import { runConcurrently } from "../loop";
import { fillAuth } from "./fill/auth";
import { fillEvents } from "./fill/events";
import { fillLedger } from "./fill/ledger";
import { fillPayment } from "./fill/payment";
import { fillRelayer } from "./fill/relayer";
import { fillWallet } from "./fill/wallet";
import { idOf, ORGANISATION, type Size, sqlFunctions } from "./numbered";

const SERVICES = join(__dirname, "../../../services");
const FILLERS = 2;
const NOWHERE = "127.0.0.1:1";
const TOKEN_SETTINGS = { CHAIN_ID: 31_337, TOKEN_ADDRESS: TOKEN };

const FILLS: Record<string, (size: Size) => string[]> = {
  ledger: fillLedger,
  chain_relayer: (size) => fillRelayer(size, OPERATOR.address),
  events: fillEvents,
  wallet: fillWallet,
  payment: fillPayment,
  auth: fillAuth,
};
type Schema = keyof typeof FILLS;

export type World = Awaited<ReturnType<typeof createWorld>>;

/** The admin RPCs of all services on filled databases. The chain is a double: only SQL is measured. */
export function createWorld(clusterUrl: string, size: Size) {
  return buildWorld(async (parts) => {
    const databases = new Map<Schema, Database>();
    const schemas = Object.keys(FILLS);
    await runConcurrently(FILLERS, schemas.length, async (index) => {
      const schema = schemas[index]!;
      databases.set(schema, await fillDatabase(parts, clusterUrl, { schema, size }));
    });
    return { size, clients: await openClients(parts, (schema) => databases.get(schema)!) };
  });
}

async function fillDatabase(
  parts: Parts,
  clusterUrl: string,
  { schema, size }: { schema: Schema; size: Size },
): Promise<Database> {
  const service = schema.replaceAll("_", "-");
  const migrations = join(SERVICES, service, "migrations");
  const { url, adminUrl } = await parts.database({ clusterUrl, schema, migrations });
  const admin = open(adminUrl, schema, 1);
  const startMs = Date.now();
  try {
    await admin.run(rawSql(sqlFunctions(size)));
    const indexes = await dropIndexes(admin);
    // Rows of one statement are whole, so the checks of references are left out.
    for (const statement of FILLS[schema]!(size))
      await admin.run(rawSql(`set local session_replication_role = replica; ${statement}`));
    for (const index of indexes) await admin.run(rawSql(`set local maintenance_work_mem = '1GB'; ${index}`));
    if (schema === "ledger") await openOrganisations(admin, size);
    await admin.run(rawSql("vacuum (analyze)"));
    await admin.run(rawSql("checkpoint"));
  } finally {
    await admin.close();
  }
  process.stderr.write(`${service} was filled in ${Math.round((Date.now() - startMs) / 1000)} s\n`);
  return parts.use(open(url, schema));
}

/** Drops the indexes that no constraint needs, and returns the statements that create them again. */
async function dropIndexes(admin: Database): Promise<string[]> {
  const indexes = await admin.query<{ name: string; definition: string }>(
    rawSql(`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = current_schema()::regnamespace and not c.relispartition and not i.indisunique
      and not exists (select from pg_constraint where conindid = i.indexrelid)`),
  );
  for (const { name } of indexes) await admin.run(rawSql(`drop index ${name}`));
  return indexes.map(({ definition }) => definition.replace(" ON ONLY ", " ON "));
}

/** The own accounts of an organisation have derived ids, which SQL cannot compute. */
async function openOrganisations(admin: Database, size: Size): Promise<void> {
  const ids = Array.from({ length: size.organisations }, (_, number) => idOf(ORGANISATION, number, size));
  await admin.run(rawSql("select setval('accounts_number_seq', (select max(number) from accounts))"));
  for (let from = 0; from < ids.length; from += 10_000)
    await ensureOrgAccounts(admin, ids.slice(from, from + 10_000));
}

async function openClients(parts: Parts, dbOf: (schema: Schema) => Database) {
  const log = createLog({ service: "bench", level: "error" });
  const serviceParts = (schema: Schema, config: object) => {
    const addresses = {
      LEDGER_ADDRESS: NOWHERE,
      WALLET_ADDRESS: NOWHERE,
      AUTH_ADDRESS: NOWHERE,
      RELAYER_ADDRESS: NOWHERE,
    };
    return { config: { ...addresses, ...config } as never, db: dbOf(schema), log, registry: testRegistry() };
  };
  const serve = async (schema: Schema, ...services: GrpcService[]) => {
    const common = createAdminService({
      db: dbOf(schema),
      service: schema,
      commit: "bench",
      topic: undefined,
    });
    return (await parts.server([...services, common], { log })).address;
  };
  const ledger = await parts.app((onClose) => createLedger({ ...serviceParts("ledger", LEDGER), onClose }));
  const ledgerAddress = await serve("ledger", ledgerAdmin(ledger, dbOf("ledger")), ...ledgerRpc(ledger));
  // Wallets are shown with the balances of the ledger.
  const walletConfig = { ...WALLET_SETTINGS, KEK_PATH: parts.kekFile(), LEDGER_ADDRESS: ledgerAddress };
  const wallet = parts.app((onClose) => createWallet({ ...serviceParts("wallet", walletConfig), onClose }));
  const payment = parts.app((onClose) => createPayment({ ...serviceParts("payment", PAYMENT), onClose }));
  const auth = createOperations({
    db: dbOf("auth"),
    keyMode: "test",
    keyLifetimeMs: 3_600_000,
    keyOverlapMs: 0,
  });
  const { provider } = createChainDouble();
  const relayer = relayerAdmin({
    ...{ db: dbOf("chain_relayer"), network: "WON_TESTNET", reachChain: async () => provider },
    ...{ signerAddress: OPERATOR.address, tokenAddress: TOKEN, correctHeads: async () => {} },
  });
  const relayerAddress = await serve("chain_relayer", relayer);
  const eventsAddress = await serve("events", eventsAdmin({ db: dbOf("events") }));
  return {
    auth: parts.client(AuthAdminServiceService, await serve("auth", authAdmin(auth, dbOf("auth")))),
    ledger: parts.client(LedgerAdminServiceService, ledgerAddress),
    wallet: parts.client(
      WalletAdminServiceService,
      await serve("wallet", walletAdmin(wallet, dbOf("wallet"))),
    ),
    payment: parts.client(PaymentAdminServiceService, await serve("payment", paymentAdmin(payment))),
    relayer: parts.client(RelayerAdminServiceService, relayerAddress),
    events: parts.client(EventsAdminServiceService, eventsAddress),
    /** The RPCs that every service has, of a service with a feed and of one with consumers. */
    relayerCommon: parts.client(AdminServiceService, relayerAddress),
    eventsCommon: parts.client(AdminServiceService, eventsAddress),
  };
}

const LEDGER = { BATCH_QUEUES: 1, MAX_BATCH: 100, MAX_QUEUE: 1_000, MAX_CHARGED_PER_DAY_WON: 1e12 };
const WALLET_SETTINGS = {
  ...TOKEN_SETTINGS,
  SIGNING_HORIZON_MS: 3_600_000,
  SIGNING_LIMIT_WALLET_WON: 10_000_000n,
  SIGNING_LIMIT_ORGANISATION_WON: 100_000_000n,
  SIGNING_LIMIT_GLOBAL_WON: 1_000_000_000n,
};
const PAYMENT = { ...TOKEN_SETTINGS, PAYMENT_MANAGER_ADDRESS: TOKEN, NETWORK: "WON_TESTNET" };
