import { join } from "node:path";
import { createApp as createAuth } from "@wonrail/auth/app";
import { rpc as authRpc } from "@wonrail/auth/rpc";
import { createRecord } from "@wonrail/chain-relayer/records/commands/createRecord";
import { type TransactionRecord } from "@wonrail/chain-relayer/records/domain/record";
import { getRecord } from "@wonrail/chain-relayer/records/queries/getRecord";
import { type Database, sql } from "@wonrail/kit/db";
import { idToUuid } from "@wonrail/kit/contract/ids";
import { type GrpcServer, type GrpcService, startGrpcServer } from "@wonrail/kit/grpc/server";
import {
  createTestDatabase,
  eventually,
  type TestDatabase,
  testLog,
  testRegistry,
} from "@wonrail/kit/testing";
import { REPOSITORY } from "@wonrail/local/config";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { createApp } from "@wonrail/payment/app";
import { rpc } from "@wonrail/payment/rpc";
import { readChain } from "./support/audit";
import { openBook } from "./support/book";
import { openTestPool, openWorld, type World } from "./support/world";

// Scheduled records from the clock to the chain, with real services and a real node. One of three
// relayers is killed.

const NETWORK = "WON_TESTNET";
const RECORDS = 200;
const AMOUNT_WON = 1_000n;
const UNITS_PER_WON = 1_000_000n;
const OUTSIDE = "0xde709f2102306220921060314715629080e2fb77";

let world: World;
let ledgerDb: Database;
let auth: Awaited<ReturnType<typeof createAuth>>;
let payments: TestDatabase;
const databases: TestDatabase[] = [];
const servers: GrpcServer[] = [];
const closers: (() => Promise<void> | void)[] = [];
const parts = () => ({
  log: testLog(),
  registry: testRegistry(),
});

async function serve(services: GrpcService[], port: number): Promise<string> {
  const server = await startGrpcServer({ host: "127.0.0.1", port, services, ...parts() });
  servers.push(server);
  return `127.0.0.1:${server.port}`;
}

async function makeDatabase(name: string): Promise<TestDatabase> {
  const migrations = join(REPOSITORY, "services", name, "migrations");
  const database = await createTestDatabase({ schema: name, migrations });
  databases.push(database);
  return database;
}

beforeAll(async () => {
  const port = await randomFreePort();
  payments = await makeDatabase("payment");
  const { db } = await makeDatabase("auth");
  const onClose = (_name: string, close: () => Promise<void> | void) => void closers.push(close);
  const keys = { KEY_MODE: "test", KEY_LIFETIME_HOURS: 1, KEY_OVERLAP_MS: 60_000 } as never;
  auth = await createAuth({ ...parts(), config: keys, db, onClose });
  const AUTH_ADDRESS = await serve(authRpc(auth), 0);
  const relayerEnv = { AUTH_ADDRESS, PAYMENT_ADDRESS: `127.0.0.1:${port}`, RECORD_LEASE_MS: "1500" };
  world = await openWorld({ relayers: 3, relayerEnv });
  ledgerDb = openTestPool(world.adminUrl, "ledger");
  const config = {
    ...world.addresses,
    AUTH_ADDRESS,
    // No settlement runs in this test.
    RELAYER_ADDRESS: "127.0.0.1:1",
    NETWORK,
    TOKEN_ADDRESS: world.contracts.tokenAddress,
    PAYMENT_MANAGER_ADDRESS: world.contracts.paymentManagerAddress,
  } as never;
  await serve(rpc(createApp({ ...parts(), config, db: payments.db, onClose }), testLog()), port);
  world.node.run(200);
}, 300_000);
afterAll(async () => {
  await ledgerDb.close();
  await world.close();
  auth.endWatches();
  await Promise.all(servers.map((server) => server.drain(100)));
  for (const close of closers) await close();
  for (const database of databases) await database.drop();
}, 120_000);

test("each record becomes one transfer, on the chain too, when one of three relayers is killed", async () => {
  const { organisation } = await auth.createOrganisation({ code: "ACME", name: "Acme", actor: "test" });
  const { book, payee, record: schedule } = await openPartner(organisation.orgId);
  const deps = recordDeps();
  const made: TransactionRecord[] = [];
  while (made.length < RECORDS) made.push(await schedule(payee.address));
  await makeDue(book.orgId);
  const started = sql`select count(*) as count from records where run not in ('WAITING') and org_id = ${book.orgId}`;
  await eventually(
    async () =>
      expect(Number((await world.relayerDb.one<{ count: bigint }>(started)).count)).toBeGreaterThan(0),
    { timeoutMs: 60_000, intervalMs: 5 },
  );
  await world.relayers[0]!.kill();

  const pending = sql`select count(*) as count from records where status <> 'CONFIRMED' and org_id = ${book.orgId}`;
  await eventually(
    async () => expect((await world.relayerDb.one<{ count: bigint }>(pending)).count).toBe(0n),
    { timeoutMs: 90_000, intervalMs: 200 },
  );
  for (const record of made) {
    const { record: found, history } = await getRecord(deps, {
      orgId: book.orgId,
      recordId: record.recordId,
    });
    expect(found).toMatchObject({ status: "CONFIRMED", txHash: expect.stringMatching(/^0x/) as string });
    expect(history.map(({ changedBy }) => changedBy)).toEqual(["api", "scheduler", "chain"]);
  }
  expect(await transfersOf(book.orgId)).toHaveLength(RECORDS);
  expect(await book.differences()).toEqual([]);
  const { balances, executions } = await readChain(world);
  expect(balances.get(payee.address.toLowerCase())).toBe(BigInt(RECORDS) * AMOUNT_WON * UNITS_PER_WON);
  expect([...executions.values()].filter((times) => times > 1)).toEqual([]);
}, 300_000);

test("a relayer that dies after payment made the transfer does not cause a second one", async () => {
  const { organisation } = await auth.createOrganisation({ code: "ONCE", name: "Once", actor: "test" });
  const { book, payee, record: schedule } = await openPartner(organisation.orgId);
  const { orgId, recordId } = await schedule(payee.address);
  const [relayer, ...others] = world.relayers;
  for (const one of world.relayers) await one.kill();
  await relayer!.start({ FAILPOINTS: "relayer.scheduled:kill" });
  await makeDue(orgId);
  expect(await relayer!.exited()).toEqual({ code: null, signal: "SIGKILL" });
  const [made] = await transfersOf(orgId);
  const status = async () => (await getRecord(recordDeps(), { orgId, recordId })).record;
  expect(await status()).toMatchObject({ status: "PENDING", transferId: null });

  for (const one of others) await one.start();
  await eventually(
    async () => expect(await status()).toMatchObject({ status: "CONFIRMED", transferId: made }),
    { timeoutMs: 90_000, intervalMs: 200 },
  );
  expect(await transfersOf(orgId)).toEqual([made]);
  expect(await book.differences()).toEqual([]);
}, 300_000);

test("due transfers of a suspended or expired organisation move no tokens", async () => {
  const day = 86_400_000;
  const over = {
    subscriptionStartsAt: new Date(Date.now() - 2 * day),
    subscriptionEndsAt: new Date(Date.now() - day),
  };
  const terms = [{ code: "STOPPED" }, { code: "EXPIRED", ...over }];
  const partners = await Promise.all(
    terms.map(async (one) => {
      const { organisation } = await auth.createOrganisation({ name: one.code, actor: "test", ...one });
      return { ...(await openPartner(organisation.orgId)), code: one.code };
    }),
  );
  const failed = await Promise.all(partners.map(({ record }) => record(OUTSIDE)));
  await auth.setOrganisation({ code: "STOPPED", change: { status: "SUSPENDED" }, actor: "test" });
  for (const { book } of partners) await makeDue(book.orgId);
  for (const { orgId, recordId } of failed)
    await eventually(
      async () => {
        const { record } = await getRecord(recordDeps(), { orgId, recordId });
        const failureReason = expect.stringMatching(/^WAUTH_003: /) as string;
        expect(record).toMatchObject({ status: "FAILED", failureReason, transferId: null });
      },
      { timeoutMs: 30_000, intervalMs: 100 },
    );
  for (const { book } of partners) {
    expect(await transfersOf(book.orgId)).toEqual([]);
    await eventually(async () => expect(await book.differences()).toEqual([]), { timeoutMs: 60_000 });
  }

  const [stopped] = partners;
  await auth.setOrganisation({ code: "STOPPED", change: { status: "ACTIVE" }, actor: "test" });
  const { orgId, recordId } = await stopped!.record(stopped!.payee.address);
  await makeDue(orgId);
  await eventually(
    async () => expect((await getRecord(recordDeps(), { orgId, recordId })).record.status).toBe("CONFIRMED"),
    { timeoutMs: 60_000, intervalMs: 200 },
  );
}, 180_000);

/** An organisation with money, and a function that records a later transfer of it. */
async function openPartner(orgId: string) {
  const book = openBook(world, orgId);
  const [payer, payee] = [await book.openWallet("payer"), await book.openWallet("payee")];
  await book.post("chg", { $case: "charge", value: { walletId: payer.walletId, amountWon: "200000" } });
  const record = async (toAddress: string) => {
    const fields = {
      fromNetworkType: NETWORK,
      toNetworkType: NETWORK,
      fromAddress: payer.address,
      toAddress,
      amount: (AMOUNT_WON * UNITS_PER_WON).toString(),
      scheduledAt: new Date(Date.now() + 3_600_000),
    };
    return (await createRecord(recordDeps(), { orgId, paymentType: "SCHEDULED", fields, key: null })).record;
  };
  return { book, payee, record };
}

function recordDeps() {
  const chain = { network: NETWORK, ...world.contracts };
  return { db: world.relayerDb, chain, wallet: world.wallet, now: Date.now };
}

/** Makes all of them due at the same moment. */
async function makeDue(orgId: string): Promise<void> {
  await world.relayerDb.run(
    sql`update records set run_at = clock_timestamp() where org_id = ${orgId} and run = 'WAITING'`,
  );
}

/** Ids of the transfers that the ledger posted for an organisation. */
async function transfersOf(orgId: string): Promise<string[]> {
  const rows = await ledgerDb.query<{ id: string }>(sql`
    select request_prefix || '_' || replace(id::text, '-', '') as id from entries
    where org_id = ${idToUuid(orgId)} and request_prefix = 'trf' and code is null order by id`);
  return rows.map(({ id }) => id);
}
