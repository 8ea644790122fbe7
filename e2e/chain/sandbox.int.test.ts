import { randomBytes } from "node:crypto";
import { newId } from "@wonrail/kit/contract/ids";
import { createClient } from "@wonrail/kit/grpc/client";
import { sql } from "@wonrail/kit/db";
import { eventually, testLog, testRegistry } from "@wonrail/kit/testing";
import { RelayerServiceService, SandboxOrder } from "@wonrail/proto/relayer/v1/relayer";
import { computeAddress } from "ethers";
import { NO_LIMIT, openBook, type TestWallet } from "./support/book";
import { openWorld, type World } from "./support/world";

// Deposits and settlements of the sandbox, on a real chain.

const WON = 1_000_000n;
const OUTSIDE = "0x00000000000000000000000000000000000a11ce";
const FAUCET_KEY = `0x${randomBytes(32).toString("hex")}`;

let world: World;
let relayer: ReturnType<typeof openRelayer>;
let book: ReturnType<typeof openBook>;
let shop: TestWallet;

beforeAll(async () => {
  world = await openWorld({ relayers: 1, relayerEnv: { FAUCET_KEY } });
  relayer = openRelayer(world.relayers[0]!.grpc);
  world.node.run(100);
  book = openBook(world);
  shop = await book.openWallet("shop");
  await fillFaucet("100000");
}, 240_000);
afterAll(async () => {
  relayer.close();
  await world.close();
}, 120_000);

test("a deposit moves tokens of the faucet once for its key, and is credited as one from outside", async () => {
  const before = await tokenBalance(computeAddress(FAUCET_KEY));
  const first = await deposit("5000", "a key");
  expect(first).toMatchObject({ fromAddress: computeAddress(FAUCET_KEY), replayed: false });
  expect(await deposit("5000", "a key")).toEqual({ ...first, replayed: true });
  await expect(deposit("5001", "a key")).rejects.toMatchObject({ code: "REQ_003" });
  await untilCredited(first.txHash!, 5_000n);
  expect(before - (await tokenBalance(computeAddress(FAUCET_KEY)))).toBe(5_000n * WON);
  const [one, other] = [await deposit("7"), await deposit("7")];
  expect(one.txHash).not.toBe(other.txHash);
  for (const { txHash } of [one, other]) await untilCredited(txHash!, 7n);
}, 120_000);

test("an empty faucet refuses, sends nothing, and the same key works once it is filled", async () => {
  const refused = { code: "SBX_003", details: { reason: "faucet_empty" } };
  await expect(deposit("150000", "large")).rejects.toMatchObject(refused);
  await fillFaucet("100000");
  const { txHash } = await deposit("150000", "large");
  await untilCredited(txHash!, 150_000n);
}, 120_000);

test("a hold with the memo of a failure is FAILED without a transaction, and other money goes on", async () => {
  const { walletId } = await book.openWallet("payer");
  await book.post("chg", { $case: "charge", value: { walletId, amountWon: "3000" } });
  const failed = await hold(walletId, "1000", "sandbox:settlement_failed");
  await eventually(async () => expect(await stateOf(failed)).toBe("FAILED"), { timeoutMs: 60_000 });
  const [row] = await world.relayerDb.query(sql`
    select failure_reason, tx_hash, proof_block_hash is not null as proven from operations where ledger_ref = ${failed}`);
  expect(row).toEqual({ failure_reason: "failed_in_sandbox", tx_hash: null, proven: true });
  const settled = await hold(walletId, "1000", "rent");
  await eventually(async () => expect(await stateOf(settled)).toBe("CONFIRMED"), { timeoutMs: 60_000 });
}, 120_000);

test("a held charge waits, holds up its wallet, cannot fail, and settles after its release", async () => {
  const { walletId } = await book.openWallet("held");
  const held = await charge(walletId, "sandbox:settlement_held");
  const later = await charge(walletId, undefined);
  await eventually(async () => expect(await stateOf(later)).toBe("WAITING"), { timeoutMs: 30_000 });
  expect(await order(held, SandboxOrder.FAIL)).toBe("HELD");
  await world.node.mine(5);
  expect([await stateOf(held), await stateOf(later)]).toEqual(["WAITING", "WAITING"]);
  expect(await order(held, SandboxOrder.RELEASE)).toBe("RELEASED");
  for (const ref of [held, later])
    await eventually(async () => expect(await stateOf(ref)).toBe("CONFIRMED"), { timeoutMs: 60_000 });
  await expect(order(held, SandboxOrder.HOLD)).rejects.toMatchObject({ code: "SBX_002" });
}, 120_000);

function deposit(amountWon: string, idempotencyKey?: string) {
  return relayer.createSandboxDeposit(
    { orgId: book.orgId, toAddress: shop.address, amountWon, idempotencyKey, waitMs: 20_000 },
    { timeoutMs: 40_000 },
  );
}

async function order(id: string, wanted: SandboxOrder): Promise<string> {
  return (await relayer.orderSandboxSettlement({ orgId: book.orgId, id, order: wanted })).state;
}

async function hold(walletId: string, amountWon: string, memo: string): Promise<string> {
  const value = { walletId, amountWon, toAddress: OUTSIDE, dailyLimitWon: NO_LIMIT };
  return post("trf", memo, { $case: "placeHold", value });
}

async function charge(walletId: string, memo: string | undefined): Promise<string> {
  const limits = { dailyLimitWon: NO_LIMIT, maxChargeWon: NO_LIMIT };
  return post("chg", memo, { $case: "charge", value: { walletId, amountWon: "1000", ...limits } });
}

type Posted = NonNullable<Parameters<World["ledger"]["post"]>[0]["intent"]>;

async function post(prefix: "trf" | "chg", memo: string | undefined, intent: Posted): Promise<string> {
  const requestId = newId(prefix);
  const context = { requestId: newId("req"), traceparent: "", orgId: book.orgId, deadline: undefined };
  await world.ledger.post({ context, requestId, metadata: {}, memo, intent });
  return requestId;
}

/** Moves money from a wallet to the faucet. */
async function fillFaucet(amountWon: string): Promise<void> {
  const faucet = computeAddress(FAUCET_KEY);
  const wanted = (await tokenBalance(faucet)) + BigInt(amountWon) * WON;
  const { walletId } = await book.openWallet(newId("req"));
  await book.post("chg", { $case: "charge", value: { walletId, amountWon } });
  const holdRequestId = await book.post("hld", {
    $case: "placeHold",
    value: { walletId, amountWon, toAddress: faucet, dailyLimitWon: NO_LIMIT },
  });
  await eventually(async () => expect(await tokenBalance(faucet)).toBe(wanted), { timeoutMs: 60_000 });
  await book.post("trf", { $case: "postHold", value: { holdRequestId } });
}

async function untilCredited(txHash: string, amountWon: bigint): Promise<void> {
  const read = () =>
    world.relayerDb.query(sql`select state, amount_won from deposits where tx_hash = ${txHash}`);
  await eventually(async () => expect(await read()).toEqual([{ state: "CREDITED", amount_won: amountWon }]), {
    timeoutMs: 60_000,
  });
}

async function stateOf(ref: string): Promise<string | undefined> {
  const [row] = await world.relayerDb.query<{ state: string }>(
    sql`select state from operations where ledger_ref = ${ref}`,
  );
  return row?.state;
}

async function tokenBalance(address: string): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, "0")}`;
  const call = { to: world.contracts.tokenAddress, data };
  return BigInt(await world.node.rpc<string>("eth_call", [call, "latest"]));
}

function openRelayer(address: string) {
  const options = {
    name: "chain-relayer",
    log: testLog(),
    registry: testRegistry(),
    defaultTimeoutMs: 10_000,
  };
  return createClient(RelayerServiceService, { ...options, address });
}
