import { sql } from "@wonrail/kit/db";
import { createClient } from "@wonrail/kit/grpc/client";
import { eventually, testLog, testRegistry } from "@wonrail/kit/testing";
import { DepositCredited } from "@wonrail/proto/relayer/events/v1/events";
import { RelayerServiceService, type X402Payment } from "@wonrail/proto/relayer/v1/relayer";
import { NO_LIMIT, openBook, type TestWallet } from "./support/book";
import { openPayer, type Payer } from "./support/payer";
import { openWorld, type World } from "./support/world";

const WON = 1_000_000n;
const WAIT_MS = 20_000;
const REASON = "invalid_exact_evm_";

let world: World;
/** Clients of the two replicas. */
let relayers: ReturnType<typeof openRelayer>[];
let book: Book;
let shop: TestWallet;
/** Has the tokens that the payers get. */
let treasury: Payer;

type Book = ReturnType<typeof openBook>;

beforeAll(async () => {
  world = await openWorld({ relayers: 2, relayerEnv: { RESEND_AFTER_MS: "1000" } });
  relayers = world.relayers.map(({ grpc }) => openRelayer(grpc));
  world.node.run(100);
  book = openBook(world);
  shop = await book.openWallet("shop");
  treasury = openPayer(world);
  await fill(treasury, "1000000");
}, 240_000);
afterAll(async () => {
  relayers.forEach((relayer) => relayer.close());
  await world.close();
}, 120_000);

test("a payment is settled, credited once as a deposit, and repeated with the same hash", async () => {
  const payer = await openFundedPayer(1_000n);
  const payment = await payer.pay({ payTo: shop.address, units: 250n * WON });
  expect(await verify(payment)).toBe("valid");
  const { txHash } = await settle(payment);
  expect(await receiptOf(txHash!)).toMatchObject({ status: "0x1", to: tokenAddress() });
  expect(await settle(payment)).toEqual({ refusal: undefined, txHash });
  expect(await verify(payment)).toBe(`${REASON}nonce_already_used`);
  await untilCredited(txHash!, 250n);
  expect(await settle(payment, 1)).toEqual({ refusal: undefined, txHash });
  expect(await tokenBalance(payer.address)).toBe(750n * WON);
}, 120_000);

test("two replicas that settle the same payment at once send one transaction", async () => {
  const payer = await openFundedPayer(1_000n);
  const payment = await payer.pay({ payTo: shop.address, units: 10n * WON });
  const before = await sentCount();
  const settled = await Promise.all(
    Array.from({ length: 8 }, (_, number) => settle(payment, WAIT_MS, number % 2)),
  );
  expect(new Set(settled.map(({ txHash }) => txHash)).size).toBe(1);
  expect(settled.flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
  expect((await sentCount()) - before).toBe(1n);
  await untilCredited(settled[0]!.txHash!, 10n);
}, 120_000);

test("a payer's payments in one block never spend more than its balance", async () => {
  const payer = await openFundedPayer(100n);
  const payments = await Promise.all(
    Array.from({ length: 5 }, () => payer.pay({ payTo: shop.address, units: 40n * WON })),
  );
  const settled = await Promise.all(payments.map((payment) => settle(payment)));
  const refused = settled.flatMap(({ refusal }) => refusal?.reason ?? []);
  expect(refused).toEqual(Array(3).fill(`${REASON}insufficient_balance`));
  expect(await tokenBalance(payer.address)).toBe(20n * WON);
  // No gas was spent on the refused ones.
  expect(await reverted()).toEqual([]);
}, 120_000);

test.each(["relayer.r2", "relayer.r3", "relayer.r4"])(
  "a relayer that dies at %s moves the money once, and the same request gets the hash",
  async (point) => {
    const payer = await openFundedPayer(1_000n);
    const payment = await payer.pay({ payTo: shop.address, units: 7n * WON });
    await Promise.all(world.relayers.map((relayer) => relayer.kill()));
    await world.relayers[0]!.start({ FAILPOINTS: `${point}:kill` });
    await eventually(() => relayers[0]!.getX402Support({}), { timeoutMs: 60_000 });
    await expect(settle(payment)).rejects.toThrow();
    await world.relayers[0]!.exited();
    await Promise.all(world.relayers.map((relayer) => relayer.start()));
    const { refusal, txHash } = await settleAgain(payment);
    expect(refusal).toBeUndefined();
    await untilCredited(txHash!, 7n);
    expect(await tokenBalance(payer.address)).toBe(993n * WON);
  },
  180_000,
);

test("a payer that moves its money after the check is refused without gas, and may try again", async () => {
  const payer = await openFundedPayer(50n);
  const payment = await payer.pay({ payTo: shop.address, units: 50n * WON });
  expect(await verify(payment)).toBe("valid");
  await mined(await payer.transfer(treasury.address, 50n * WON));
  const before = await sentCount();
  expect((await settle(payment)).refusal?.reason).toBe(`${REASON}insufficient_balance`);
  expect(await sentCount()).toBe(before);
  await mined(await treasury.transfer(payer.address, 50n * WON));
  const { txHash } = await settle(payment);
  await untilCredited(txHash!, 50n);
}, 120_000);

test("a payer that moves its money while the payment is in flight is refused after a final block", async () => {
  const payer = await openFundedPayer(50n);
  const payment = await payer.pay({ payTo: shop.address, units: 50n * WON });
  await world.node.pause();
  const pending = await settle(payment, 2_000);
  expect(pending).toMatchObject({ refusal: { reason: "settlement_pending" } });
  await payer.transfer(treasury.address, 50n * WON);
  const gasBefore = await gasOfDay();
  world.node.run(100);
  expect((await settle(payment)).refusal?.reason).toBe(`${REASON}transaction_failed`);
  expect(await receiptOf(pending.txHash!)).toMatchObject({ status: "0x0" });
  // The reservation became the use.
  expect(await gasOfDay()).toBe(gasBefore - 200_000n + BigInt((await receiptOf(pending.txHash!)).gasUsed));
}, 120_000);

test("a settlement that waits in vain answers the hash, and the same request goes on", async () => {
  const payer = await openFundedPayer(50n);
  const payment = await payer.pay({ payTo: shop.address, units: 50n * WON });
  await world.node.pause();
  const waiting = await settle(payment, 2_000);
  expect(waiting).toMatchObject({
    refusal: { reason: "settlement_pending" },
    txHash: expect.stringMatching(/^0x/),
  });
  world.node.run(100);
  expect(await settle(payment, WAIT_MS, 1)).toEqual({ refusal: undefined, txHash: waiting.txHash });
}, 120_000);

test("an authorization that another account used first is refused, and its money is credited once", async () => {
  const payer = await openFundedPayer(50n);
  const payment = await payer.pay({ payTo: shop.address, units: 20n * WON });
  const txHash = await treasury.submit(payment);
  await mined(txHash);
  expect(await verify(payment)).toBe(`${REASON}nonce_already_used`);
  const before = await sentCount();
  expect((await settle(payment)).refusal?.reason).toBe(`${REASON}nonce_already_used`);
  expect(await sentCount()).toBe(before);
  await untilCredited(txHash, 20n);
}, 120_000);

test("an authorization that another account uses while it is in flight is settled by that transaction", async () => {
  const payer = await openFundedPayer(50n);
  const payment = await payer.pay({ payTo: shop.address, units: 20n * WON });
  await world.node.pause();
  const ours = await settle(payment, 2_000);
  expect(ours.refusal?.reason).toBe("settlement_pending");
  const txHash = await treasury.submit(payment);
  world.node.run(100);
  expect(await settle(payment)).toEqual({ refusal: undefined, txHash });
  expect(await receiptOf(ours.txHash!)).toMatchObject({ status: "0x0" });
  await untilCredited(txHash, 20n);
  expect(await settle(payment)).toEqual({ refusal: undefined, txHash });
  expect(await tokenBalance(payer.address)).toBe(30n * WON);
}, 120_000);

test("a payment with the nonce of another one is refused, also to another organisation", async () => {
  const payer = await openFundedPayer(50n);
  const nonce = "ab".repeat(32);
  await settle(await payer.pay({ payTo: shop.address, units: 1n * WON, nonce }));
  const other = await payer.pay({ payTo: shop.address, units: 2n * WON, nonce });
  expect((await settle(other)).refusal?.reason).toBe(`${REASON}nonce_already_used`);
  const theirs = openBook(world);
  const { address: payTo } = await theirs.openWallet("shop");
  const payment = await payer.pay({ payTo, units: 1n * WON, nonce });
  const asked = { orgId: theirs.orgId, payment, waitMs: WAIT_MS };
  expect((await relayers[0]!.settleX402Payment(asked)).refusal?.reason).toBe(`${REASON}nonce_already_used`);
}, 120_000);

test("only active wallets of the organisation get payments, and only from outside", async () => {
  const other = openBook(world);
  const theirs = await other.openWallet("shop");
  const payer = await openFundedPayer(50n);
  const toTheirs = await payer.pay({ payTo: theirs.address, units: 1n * WON });
  const toNobody = await payer.pay({ payTo: treasury.address, units: 1n * WON });
  const refusals = await Promise.all(
    [toTheirs, toNobody].map(async (payment) => (await settle(payment)).refusal),
  );
  expect(refusals[0]).toMatchObject({ reason: "invalid_payment_requirements" });
  expect(refusals[1]).toEqual(refusals[0]);
  const fromOurs = await payer.pay({ payTo: shop.address, units: 1n * WON });
  fromOurs.authorization!.from = theirs.address;
  expect((await settle(fromOurs)).refusal).toMatchObject({ reason: "invalid_payment_requirements" });
  await world.wallet.deactivateWallet({ orgId: other.orgId, walletId: theirs.walletId });
  const asOwner = { orgId: other.orgId, payment: toTheirs, waitMs: 1 };
  const { refusal } = await relayers[0]!.settleX402Payment(asOwner);
  expect(refusal).toEqual({
    reason: "invalid_payment_requirements",
    message: "the wallet of payTo is deactivated",
  });
}, 120_000);

test("a signature of another key or for another value is refused", async () => {
  const [payer, thief] = [await openFundedPayer(50n), openPayer(world)];
  const payment = await payer.pay({ payTo: shop.address, units: 1n * WON });
  const stolen = await thief.pay({ payTo: shop.address, units: 1n * WON });
  expect(await verify({ ...payment, signature: stolen.signature })).toBe(`${REASON}signature`);
  for (const bytes of [0, 1, 64, 65, 66, 1_024])
    expect(await verify({ ...payment, signature: Buffer.alloc(bytes, 7) })).toBe(`${REASON}signature`);
  expect((await settle({ ...payment, signature: stolen.signature })).refusal?.reason).toBe(
    `${REASON}signature`,
  );
}, 120_000);

test("a contract wallet pays by ERC-1271", async () => {
  const payer = openPayer(world);
  const contract = "0x00000000000000000000000000000000c0217ac7";
  await mined(await treasury.transfer(contract, 5n * WON));
  const payment = await payer.pay({ payTo: shop.address, units: 5n * WON });
  payment.authorization!.from = contract;
  expect(await verify(payment)).toBe(`${REASON}signature`);
  // Accepts every signature.
  await world.node.rpc("anvil_setCode", [contract, "0x631626ba7e60e01b60005260206000f3"]);
  expect(await verify(payment)).toBe("valid");
  const { txHash } = await settle(payment);
  await untilCredited(txHash!, 5n);
}, 120_000);

test("payments stop when the organisation's gas of the day is used up", async () => {
  const payer = await openFundedPayer(50n);
  await world.relayerDb.run(sql`update x402_gas set gas = gas + 50000000 where org_id = ${book.orgId}`);
  const payment = await payer.pay({ payTo: shop.address, units: 1n * WON });
  expect((await settle(payment)).refusal?.reason).toBe("facilitator_gas_limit_reached");
  await world.relayerDb.run(sql`update x402_gas set gas = gas - 50000000 where org_id = ${book.orgId}`);
  expect((await settle(payment)).refusal).toBeUndefined();
}, 120_000);

test("a payment to a known payee takes 47,000 gas with rising nonces, and 69,500 with random ones", async () => {
  const payer = await openFundedPayer(50n);
  const gas: bigint[] = [];
  for (const nonce of [1n, 2n, 3n, undefined]) {
    const hex = nonce?.toString(16).padStart(64, "0");
    const payment = await payer.pay({ payTo: shop.address, units: WON, ...(hex ? { nonce: hex } : {}) });
    gas.push(BigInt((await receiptOf((await settle(payment)).txHash!)).gasUsed));
  }
  expect(Number(gas[2])).toBeLessThanOrEqual(47_000);
  expect(Number(gas[3])).toBeLessThanOrEqual(69_500);
}, 120_000);

test("metrics count verifications and settlements by outcome, and a repetition again", async () => {
  const before = await outcomes();
  const payer = await openFundedPayer(50n);
  const payment = await payer.pay({ payTo: shop.address, units: WON });
  await verify(payment);
  await settle(payment);
  await settle(payment);
  await verify(payment);
  const added = Object.entries(await outcomes()).map(([name, value]) => [name, value - (before[name] ?? 0)]);
  expect(Object.fromEntries(added.filter(([, value]) => value !== 0))).toEqual({
    'x402_verifications_total{outcome="valid"': 1,
    [`x402_verifications_total{outcome="${REASON}nonce_already_used"`]: 1,
    'x402_settlements_total{outcome="settled"': 2,
  });
}, 120_000);

test("ledger and chain agree after all payments", async () => {
  await eventually(async () => expect(await book.differences()).toEqual([]), { timeoutMs: 60_000 });
  const unfinished = await world.relayerDb.query(
    sql`select * from x402_payments where state in ('PLANNED', 'IN_FLIGHT')`,
  );
  expect(unfinished).toEqual([]);
}, 120_000);

/** The counters of the first replica. */
async function outcomes(): Promise<Record<string, number>> {
  const text = await (await fetch(`http://${world.relayers[0]!.ops}/metrics`)).text();
  const lines = [...text.matchAll(/^(x402_\w+_total\{outcome="\w+")\S* (\d+)$/gm)];
  return Object.fromEntries(lines.map(([, name, value]) => [name!, Number(value)]));
}

async function verify(payment: X402Payment): Promise<string> {
  const { refusal } = await relayers[0]!.verifyX402Payment({ orgId: book.orgId, payment });
  return refusal?.reason ?? "valid";
}

function settle(payment: X402Payment, waitMs = WAIT_MS, replica = 0) {
  return relayers[replica]!.settleX402Payment(
    { orgId: book.orgId, payment, waitMs },
    { timeoutMs: waitMs + 20_000 },
  );
}

/** After a restart the client connects again. */
function settleAgain(payment: X402Payment) {
  return eventually(() => settle(payment), { timeoutMs: 60_000, intervalMs: 500 });
}

async function openFundedPayer(amountWon: bigint): Promise<Payer> {
  const payer = openPayer(world);
  await mined(await treasury.transfer(payer.address, amountWon * WON));
  return payer;
}

/** Moves money from a wallet to an outside address. */
async function fill({ address }: Payer, amountWon: string): Promise<void> {
  const { walletId } = await book.openWallet("bank");
  await book.post("chg", { $case: "charge", value: { walletId, amountWon } });
  const hold = { walletId, amountWon, toAddress: address, dailyLimitWon: NO_LIMIT };
  const holdRequestId = await book.post("hld", { $case: "placeHold", value: hold });
  await eventually(async () => expect(await tokenBalance(address)).toBe(BigInt(amountWon) * WON), {
    timeoutMs: 60_000,
  });
  await book.post("trf", { $case: "postHold", value: { holdRequestId } });
}

/** The deposit of this transaction is credited once, with its event. */
async function untilCredited(txHash: string, amountWon: bigint): Promise<void> {
  const credited = await eventually(
    async () => {
      const rows = await world.relayerDb.query<{ state: string; amount_won: bigint; ledger_ref: string }>(sql`
        select state, amount_won, ledger_ref from deposits where tx_hash = ${txHash}`);
      expect(rows).toMatchObject([{ state: "CREDITED", amount_won: amountWon }]);
      return rows[0]!;
    },
    { timeoutMs: 60_000 },
  );
  const events = await world.relayerDb.query<{ payload: Buffer }>(sql`
    select payload from outbox where type = 'deposit_credited' and aggregate_id = ${credited.ledger_ref}`);
  expect(events.map(({ payload }) => DepositCredited.decode(payload))).toMatchObject([
    { walletId: shop.walletId, amountWon: amountWon.toString(), txHash },
  ]);
}

async function tokenBalance(address: string): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, "0")}`;
  return BigInt(await world.node.rpc<string>("eth_call", [{ to: tokenAddress(), data }, "latest"]));
}

function tokenAddress(): string {
  return world.contracts.tokenAddress.toLowerCase();
}

async function mined(txHash: string): Promise<void> {
  await eventually(async () => expect((await receiptOf(txHash)).status).toBe("0x1"), { timeoutMs: 30_000 });
}

interface Receipt {
  status: string;
  to: string;
  gasUsed: string;
}

async function receiptOf(txHash: string): Promise<Receipt> {
  const receipt = await world.node.rpc<Receipt | null>("eth_getTransactionReceipt", [txHash]);
  if (!receipt) throw new Error(`${txHash} is in no block`);
  return receipt;
}

/** Transactions for payments by x402. */
async function sentCount(): Promise<bigint> {
  const { count } = await world.relayerDb.one<{ count: bigint }>(sql`
    select count(*) from transactions where recipient = ${world.contracts.tokenAddress}`);
  return count;
}

function reverted(): Promise<object[]> {
  return world.relayerDb.query(
    sql`select * from x402_payments where reason = ${`${REASON}transaction_failed`}`,
  );
}

async function gasOfDay(): Promise<bigint> {
  const row = await world.relayerDb.one<{ gas: bigint }>(
    sql`select gas from x402_gas where org_id = ${book.orgId}`,
  );
  return row.gas;
}

function openRelayer(address: string) {
  return createClient(RelayerServiceService, {
    name: "relayer",
    address,
    log: testLog(),
    registry: testRegistry(),
    defaultTimeoutMs: 10_000,
  });
}
