import { runAdmin } from "@wonrail/chain-relayer/admin";
import { sql } from "@wonrail/kit/db";
import { createClient } from "@wonrail/kit/grpc/client";
import { newId } from "@wonrail/kit/contract/ids";
import { eventually, testLog, testRegistry } from "@wonrail/kit/testing";
import { approveNewest } from "@wonrail/kit/testing/approveNewest";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { PaymentType, RecordStatus, RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { NO_LIMIT, openBook } from "./support/book";
import { openWorld, type World } from "./support/world";

const OUTSIDE = "0x00000000000000000000000000000000000a11ce";
const WON = 1_000_000n;
const REASON = ["--reason", "test"];

let world: World;
let relayer: ReturnType<typeof openRelayer>;

beforeAll(async () => {
  const port = await randomFreePort();
  world = await openWorld({
    relayers: 1,
    relayerEnv: { GRPC_PORT: String(port), RECONCILE_EVERY_MS: "500" },
  });
  relayer = openRelayer(port);
  world.node.run(200);
  await world.node.rpc("anvil_setBalance", [OUTSIDE, "0x3635c9adc5dea00000"]);
  await world.node.rpc("anvil_impersonateAccount", [OUTSIDE]);
}, 240_000);
afterAll(async () => {
  relayer.close();
  await world.close();
}, 120_000);

test("deposits are credited once, dust is counted, and the books agree", async () => {
  const book = openBook(world);
  const wallet = await fundOutside(book, "20000");
  await send(wallet.address, 5_000n * WON + 1n);
  await send(wallet.address, WON - 1n);
  await send(wallet.address, 0n);
  await balanceIs(book, wallet.walletId, 5_000n);
  await untilDeposits(wallet.walletId, [
    { state: "CREDITED", amount_won: 5_000n, remainder_units: 1n },
    { state: "DUST", amount_won: 0n, remainder_units: WON - 1n },
  ]);

  // Scans from the first block again, whose state the node has pruned: no deposit is credited
  // twice.
  await world.node.mine(400);
  await scannedTo(await newestBlock());
  await operator("rescan", "--from", "1", ...REASON);
  await scannedTo(await newestBlock());
  await compared();
  await balanceIs(book, wallet.walletId, 5_000n);
  expect(await openDrifts()).toEqual([]);
}, 240_000);

test("a credited deposit is no drift while its ledger event is on its way", async () => {
  const book = openBook(world);
  const wallet = await fundOutside(book, "2000");
  const resumeEvents = await pauseEvents();
  try {
    await send(wallet.address, 9n * WON);
    await untilDeposits(wallet.walletId, [{ state: "CREDITED", amount_won: 9n, remainder_units: 0n }]);
    // The ledger's sequence is ahead of the pulled one, so the wallet is not judged.
    await compared();
    expect(await openDrifts()).toEqual([]);
  } finally {
    await resumeEvents();
  }
  await balanceIs(book, wallet.walletId, 9n);
  await compared();
  expect(await openDrifts()).toEqual([]);
}, 240_000);

test("money sent to another organisation's wallet becomes a deposit there", async () => {
  const book = openBook(world);
  const other = openBook(world);
  const payer = await book.openWallet("payer");
  const payee = await other.openWallet("payee");
  await book.post("chg", { $case: "charge", value: { walletId: payer.walletId, amountWon: "3000" } });
  const hold = { walletId: payer.walletId, amountWon: "1000", dailyLimitWon: NO_LIMIT };
  const holdRequestId = await book.post("hld", {
    $case: "placeHold",
    value: { ...hold, toAddress: payee.address },
  });
  await balanceIs(other, payee.walletId, 1_000n);
  await postHold(book, holdRequestId);
  await compared();
  expect(await openDrifts()).toEqual([]);
}, 240_000);

test("a deposit that a reorg drops before it is final is never credited", async () => {
  const book = openBook(world);
  const wallet = await fundOutside(book, "2000");
  await world.node.pause();
  const snapshot = await world.node.rpc<string>("evm_snapshot");
  const dropped = await send(wallet.address, 1_000n * WON);
  await world.node.mine();
  expect(await world.node.rpc("eth_getTransactionReceipt", [dropped])).toMatchObject({ status: "0x1" });
  await world.node.rpc("evm_revert", [snapshot]);
  await send(wallet.address, 7n * WON);
  world.node.run(200);
  await balanceIs(book, wallet.walletId, 7n);
  expect((await deposits(wallet.walletId)).map(({ amount_won }) => amount_won)).toEqual([7n]);
}, 240_000);

test("a drift stops the wallet's outflow until it is acknowledged, and is not reported again", async () => {
  const book = openBook(world);
  const [payer, payee] = [await book.openWallet("payer"), await book.openWallet("payee")];
  await book.post("chg", { $case: "charge", value: { walletId: payer.walletId, amountWon: "3000" } });
  await compared();
  expect(await openDrifts()).toEqual([]);
  const change = sql`update settled_balances set units = units + ${WON} where account_id = ${payer.walletId}`;
  // The row appears when the charge has settled.
  await eventually(async () => expect(await world.relayerDb.run(change)).toBe(1), { timeoutMs: 60_000 });
  await eventually(
    async () => expect((await openDrifts()).map(({ kind }) => kind)).toEqual(["CHAIN", "LEDGER"]),
    {
      timeoutMs: 60_000,
    },
  );
  const transfer = { fromWalletId: payer.walletId, toWalletId: payee.walletId, amountWon: "10" };
  const ref = await book.post("trf", { $case: "transfer", value: { ...transfer, dailyLimitWon: NO_LIMIT } });
  await compared();
  expect(await stateOf(ref)).toBe("WAITING");
  expect(await operator("operations", "list", "--stuck", "--older-than", "0")).toContain("drift");
  expect(await operator("drift", "ack", payer.walletId, ...REASON)).toContain("npx wonrail proposal approve");
  const config = { RELAYER_ADDRESS: world.relayers[0]!.grpc };
  expect((await approveNewest("chain-relayer", config)).code).toBe(0);
  await eventually(async () => expect(await stateOf(ref)).toBe("CONFIRMED"), { timeoutMs: 60_000 });
  await compared();
  expect(await openDrifts()).toEqual([]);
}, 300_000);

test("recorded hashes become CONFIRMED or FAILED in a final block, and an unknown hash stays PENDING", async () => {
  const orgId = newId("org");
  const receiver = world.contracts.paymentManagerAddress;
  const good = await record(orgId, await send(receiver, 0n), receiver);
  const other = await record(orgId, await send(receiver, 0n));
  const bad = await record(orgId, await send(OUTSIDE, 10n ** 30n));
  const unseen = await record(orgId, `0x${"12".repeat(32)}`);
  const read = async (id: string) => (await relayer.getRecord({ orgId, id })).record!;
  await eventually(
    async () => {
      expect(await read(good)).toMatchObject({ status: RecordStatus.CONFIRMED });
      expect(await read(bad)).toMatchObject({ status: RecordStatus.FAILED, failureReason: "reverted" });
      const differs = { status: RecordStatus.FAILED, failureReason: "toAddress_differs" };
      expect(await read(other)).toMatchObject(differs);
    },
    { timeoutMs: 60_000 },
  );
  expect((await read(bad)).history.map(({ changedBy }) => changedBy)).toEqual(["api", "chain"]);
  expect(await read(unseen)).toMatchObject({ status: RecordStatus.PENDING });
}, 240_000);

test("a status set by the owner takes precedence over the chain's", async () => {
  const orgId = newId("org");
  await world.node.pause();
  const hash = await send(OUTSIDE, 10n ** 30n);
  const id = await record(orgId, hash);
  await relayer.updateRecordStatus({ orgId, id, status: RecordStatus.CONFIRMED, failureReason: undefined });
  world.node.run(200);
  await eventually(
    async () => expect(await world.node.rpc("eth_getTransactionReceipt", [hash])).toBeTruthy(),
    { timeoutMs: 60_000 },
  );
  await compared();
  expect((await relayer.getRecord({ orgId, id })).record).toMatchObject({ status: RecordStatus.CONFIRMED });
}, 240_000);

type Book = ReturnType<typeof openBook>;

/** Funds an outside address by a transfer of ours, and returns an empty wallet. */
async function fundOutside(book: Book, amountWon: string) {
  const source = await book.openWallet("source");
  const wallet = await book.openWallet("wallet");
  await book.post("chg", { $case: "charge", value: { walletId: source.walletId, amountWon } });
  const hold = { walletId: source.walletId, amountWon, dailyLimitWon: NO_LIMIT, toAddress: OUTSIDE };
  const holdRequestId = await book.post("hld", { $case: "placeHold", value: hold });
  await eventually(async () => expect(await stateOf(holdRequestId)).toBe("CONFIRMED"), { timeoutMs: 60_000 });
  await postHold(book, holdRequestId);
  return wallet;
}

/** As the payment service does when the chain is final. */
async function postHold({ orgId }: Book, holdRequestId: string): Promise<void> {
  await world.ledger.post({
    context: { requestId: newId("req"), traceparent: "", orgId, deadline: undefined },
    requestId: newId("trf"),
    relatedId: holdRequestId,
    metadata: {},
    intent: { $case: "postHold", value: { holdRequestId } },
  });
}

/**
 * Stops events to the relayer until the returned function is called, by a lock on the inbox's
 * table.
 */
async function pauseEvents(): Promise<() => Promise<void>> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let locked = (): void => undefined;
  const isLocked = new Promise<void>((resolve) => (locked = resolve));
  const held = world.relayerDb.dedicated(async (connection) => {
    await connection.run(sql`begin`);
    await connection.run(sql`lock table inbox in exclusive mode`);
    locked();
    await released;
    await connection.run(sql`rollback`);
  });
  await Promise.race([isLocked, held]);
  return () => {
    release();
    return held;
  };
}

/** From the outside address, as a plain transfer. */
function send(to: string, units: bigint): Promise<string> {
  const word = (hex: string) => hex.padStart(64, "0");
  const data = `0xa9059cbb${word(to.slice(2).toLowerCase())}${word(units.toString(16))}`;
  const transaction = { from: OUTSIDE, to: world.contracts.tokenAddress, data, gas: "0x30d40" };
  return world.node.rpc<string>("eth_sendTransaction", [transaction]);
}

async function balanceIs({ orgId }: Book, walletId: string, won: bigint): Promise<void> {
  await eventually(
    async () => {
      const { accounts } = await world.ledger.getBalances({ orgId, accountIds: [walletId] });
      expect(accounts[0]?.balanceWon).toBe(won.toString());
    },
    { timeoutMs: 60_000 },
  );
}

interface DepositState {
  state: string;
  amount_won: bigint;
  remainder_units: bigint;
}

function deposits(walletId: string): Promise<DepositState[]> {
  return world.relayerDb.query(sql`
    select state, amount_won, remainder_units from deposits where wallet_id = ${walletId} order by amount_won desc`);
}

/** Waits for one row per deposit whose entry the relayer knows. */
async function untilDeposits(walletId: string, expected: DepositState[]): Promise<void> {
  await eventually(async () => expect(await deposits(walletId)).toEqual(expected), { timeoutMs: 60_000 });
}

function openDrifts(): Promise<{ kind: string }[]> {
  return world.relayerDb.query(sql`
    select kind, wallet_id, expected, actual from drifts where acknowledged_at is null order by kind`);
}

async function stateOf(ledgerRef: string): Promise<string | undefined> {
  const row = await world.relayerDb.maybe<{ state: string }>(
    sql`select state from operations where ledger_ref = ${ledgerRef}`,
  );
  return row?.state;
}

async function newestBlock(): Promise<bigint> {
  return BigInt(await world.node.rpc<string>("eth_blockNumber"));
}

async function scannedTo(number: bigint): Promise<void> {
  await eventually(
    async () => {
      const cursor = await world.relayerDb.one<{ block_number: bigint }>(
        sql`select block_number from scan_cursor`,
      );
      expect(cursor.block_number).toBeGreaterThanOrEqual(number);
    },
    { timeoutMs: 60_000 },
  );
}

/** Waits until the books have been compared from beginning to end twice more. */
async function compared(): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    const { now } = await world.relayerDb.one<{ now: Date }>(sql`select now() as now`);
    await eventually(
      async () => {
        const row = await world.relayerDb.one<{ finished_at: Date | null }>(
          sql`select finished_at from reconciliation`,
        );
        expect(row.finished_at?.getTime()).toBeGreaterThan(now.getTime());
      },
      { timeoutMs: 60_000 },
    );
  }
}

/** Runs an operator's command on the running relayer's database. */
async function operator(...args: string[]): Promise<string> {
  let output = "";
  const hear = (text: string) => void (output += text);
  const config = { RELAYER_ADDRESS: world.relayers[0]!.grpc, USER: "tester" };
  const code = await runAdmin(args, { config, out: hear, err: hear });
  expect([code, output]).toEqual([0, output]);
  return output;
}

async function record(orgId: string, txHash: string, toAddress = OUTSIDE): Promise<string> {
  const network = "WON_TESTNET";
  const { record } = await relayer.createRecord({
    orgId,
    fields: {
      fromNetworkType: network,
      toNetworkType: network,
      paymentType: PaymentType.INSTANT,
      metadata: {},
      fromAddress: OUTSIDE,
      toAddress,
      txHash,
      amount: "0",
      fee: undefined,
      memo: undefined,
      scheduledAt: undefined,
    },
  });
  return record!.id;
}

function openRelayer(port: number) {
  return createClient(RelayerServiceService, {
    name: "relayer",
    address: `127.0.0.1:${port}`,
    log: testLog(),
    registry: testRegistry(),
    defaultTimeoutMs: 10_000,
  });
}
