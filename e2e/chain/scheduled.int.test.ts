import { join } from "node:path";
import { createRecord } from "@wonrail/chain-relayer/commands/createRecord";
import { getRecord } from "@wonrail/chain-relayer/queries/getRecord";
import { sql } from "@wonrail/kit/db";
import { type GrpcServer, type GrpcService, implement, startGrpcServer } from "@wonrail/kit/grpc/server";
import { createRegistry } from "@wonrail/kit/metrics";
import { createTestDatabase, eventually, type TestDatabase, testLog } from "@wonrail/kit/testing";
import { REPOSITORY } from "@wonrail/local/config";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { createApp } from "@wonrail/payment/app";
import { rpc } from "@wonrail/payment/rpc";
import { AuthServiceService, Organisation } from "@wonrail/proto/auth/v1/auth";
import { readChain } from "./support/audit";
import { openBook } from "./support/book";
import { openWorld, type World } from "./support/world";

// Scheduled records from the clock to the chain: three relayers, one killed, the real payment, ledger and wallet services, a real node.

const NETWORK = "WON_TESTNET";
const RECORDS = 200;
const AMOUNT_WON = 1_000n;
const UNITS_PER_WON = 1_000_000n;

let world: World;
let payments: TestDatabase;
const servers: GrpcServer[] = [];
const closers: (() => Promise<void> | void)[] = [];
const parts = () => ({
  log: testLog(),
  registry: createRegistry({ service: "test", version: "0", commit: "0" }),
});

async function serve(services: GrpcService[], port: number): Promise<string> {
  const server = await startGrpcServer({ host: "127.0.0.1", port, services, ...parts() });
  servers.push(server);
  return `127.0.0.1:${server.port}`;
}

beforeAll(async () => {
  const port = await randomFreePort();
  const relayerEnv = { PAYMENT_ADDRESS: `127.0.0.1:${port}`, RECORD_LEASE_MS: "1500" };
  world = await openWorld({ relayers: 3, relayerEnv });
  payments = await createTestDatabase({
    schema: "payment",
    migrations: join(REPOSITORY, "services/payment/migrations"),
  });
  // All that payment asks of auth: what the organisation may move.
  const policy = { dailyTransferLimitWon: "5000000", incentiveRateBps: 0, version: 1n };
  const auth = implement(AuthServiceService, {
    getOrganisation: async () => ({
      organisation: Organisation.fromPartial(policy),
      subscriptionActive: true,
    }),
  });
  const config = {
    ...world.addresses,
    AUTH_ADDRESS: await serve([auth], 0),
    NETWORK,
    TOKEN_ADDRESS: world.contracts.tokenAddress,
    PAYMENT_MANAGER_ADDRESS: world.contracts.paymentManagerAddress,
  } as never;
  const onClose = (_name: string, close: () => Promise<void> | void) => void closers.push(close);
  await serve(rpc(createApp({ ...parts(), config, db: payments.db, onClose }), testLog()), port);
  world.node.run(200);
}, 300_000);
afterAll(async () => {
  await world.close();
  await Promise.all(servers.map((server) => server.drain(100)));
  for (const close of closers) await close();
  await payments.drop();
}, 120_000);

test("three relayers and one of them killed: each record is one transfer, on the chain too", async () => {
  const book = openBook(world);
  const [payer, payee] = [await book.openWallet("payer"), await book.openWallet("payee")];
  await book.post("chg", { $case: "charge", value: { walletId: payer.walletId, amountWon: "200000" } });
  const scheduledAt = new Date(Date.now() + 3_600_000);
  const fields = {
    fromNetworkType: NETWORK,
    toNetworkType: NETWORK,
    fromAddress: payer.address,
    toAddress: payee.address,
    amount: (AMOUNT_WON * UNITS_PER_WON).toString(),
    scheduledAt,
  };
  const deps = { db: world.relayerDb, chain: { network: NETWORK }, now: Date.now };
  const wanted = { orgId: book.orgId, paymentType: "SCHEDULED" as const, fields, key: null };
  const made: Awaited<ReturnType<typeof createRecord>>[] = [];
  while (made.length < RECORDS) made.push(await createRecord(deps, wanted));
  // However long it took to make them, their time comes for all of them at once.
  await world.relayerDb.run(sql`update records set run_at = clock_timestamp() where org_id = ${book.orgId}`);
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
  for (const { record } of made) {
    const { record: found, history } = await getRecord(deps, {
      orgId: book.orgId,
      recordId: record.recordId,
    });
    expect(found).toMatchObject({ status: "CONFIRMED", txHash: expect.stringMatching(/^0x/) as string });
    expect(history.map(({ changedBy }) => changedBy)).toEqual(["api", "scheduler", "chain"]);
  }
  const transfers = await payments.db.one<{ count: bigint }>(sql`select count(*) as count from transfers`);
  expect(transfers.count).toBe(BigInt(RECORDS));
  expect(await book.differences()).toEqual([]);
  const { balances, executions } = await readChain(world);
  expect(balances.get(payee.address.toLowerCase())).toBe(BigInt(RECORDS) * AMOUNT_WON * UNITS_PER_WON);
  expect([...executions.values()].filter((times) => times > 1)).toEqual([]);
}, 300_000);
