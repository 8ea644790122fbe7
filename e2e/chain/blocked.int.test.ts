// The token's blocklist has a wallet. The ledger freezes the wallet once the block is final. Entries that
// were posted before wait without gas and hold up no other wallet.
import { setTimeout as sleep } from "node:timers/promises";
import { tokenAbi } from "@wonrail/chain-relayer/evm/contracts";
import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { NO_LIMIT, openBook, type OperationState, readOperations, type TestWallet } from "./support/book";
import { openWorld, type World } from "./support/world";

const BLOCK_MS = 150;
const OUTSIDE = "0x00000000000000000000000000000000000D00D1";
const OUTSIDE_LIFE_MS = 3_000;
const patience = { timeoutMs: 60_000 };

let world: World;
let book: ReturnType<typeof openBook>;
let [kim, lee, han]: TestWallet[] = [];

beforeAll(async () => {
  world = await openWorld({
    relayerEnv: { OUTSIDE_LIFE_MS: `${OUTSIDE_LIFE_MS}`, LEASE_MS: "1000", AUTHORIZATION_LIFE_MS: "2000" },
  });
  world.node.run(BLOCK_MS);
  await world.node.rpc("anvil_impersonateAccount", [world.admin]);
  await world.node.rpc("anvil_setBalance", [world.admin, "0x56bc75e2d63100000"]);
  book = openBook(world);
  kim = await book.openWallet("kim");
  lee = await book.openWallet("lee");
  han = await book.openWallet("han");
  await until(await charge(kim), { state: "CONFIRMED" });
  await until(await charge(han), { state: "CONFIRMED" });
}, 240_000);
afterAll(() => world.close(), 120_000);

let fromBlocked: string;
let onward: string;
let outside: string;

test("the ledger freezes a blocked wallet after finality, although ledger and relayer were down meanwhile", async () => {
  // The block is not final while the chain stands still, so the ledger posts these before the freeze.
  await world.node.pause();
  const blocked = await setBlocked(kim!, true);
  await world.node.mine();
  await mined(blocked);
  fromBlocked = await transfer(kim!, lee!, "900");
  onward = await transfer(lee!, han!, "300");
  outside = await hold(lee!, "500");
  await eventually(async () => expect(await readOperations(world)).toHaveLength(5), patience);
  await world.ledgerService.kill();
  world.node.run(BLOCK_MS);
  await eventually(async () => expect(await countUnposted()).toBe(1), patience);
  await world.relayers[0]!.kill();
  await Promise.all([world.ledgerService.start(), world.relayers[0]!.start()]);
  await eventually(async () => expect(await countUnposted()).toBe(0), patience);
  const isFrozen = { code: "WAL_005", details: { freeze: "ALL" } };
  const attempts = [() => transfer(kim!, han!, "1"), () => transfer(han!, kim!, "1"), () => charge(kim!)];
  // The test's client may not have noticed yet that the ledger is back.
  for (const attempt of attempts)
    await eventually(async () => expect(attempt()).rejects.toMatchObject(isFrozen), patience);
}, 240_000);

test("entries from before the freeze wait without gas, and other wallets settle", async () => {
  await until(fromBlocked, { state: "PLANNED", wait_reason: "AccountBlocked" });
  await until(onward, { state: "PLANNED", wait_reason: "ERC20InsufficientBalance" });
  await until(outside, { state: "PLANNED", wait_reason: "ERC20InsufficientBalance" });
  await until(await transfer(han!, await book.openWallet("cho"), "10"), { state: "CONFIRMED" });
  const nonce = () => world.node.rpc<string>("eth_getTransactionCount", [world.operator, "latest"]);
  const before = await nonce();
  for (let round = 0; round < 5; round += 1) {
    await world.relayerDb.run(sql`update operations set retry_at = now() where state = 'PLANNED'`);
    await eventually(async () => expect(await countDue()).toBe(0), patience);
  }
  expect(await nonce()).toBe(before);
}, 240_000);

test("the outside transfer of an innocent payee does not fail, however long the payer is blocked", async () => {
  await sleep(3 * OUTSIDE_LIFE_MS);
  await until(outside, { state: "PLANNED", wait_reason: "ERC20InsufficientBalance" });
}, 240_000);

test("after the unblock the wallet pays again and everything settles", async () => {
  await mined(await setBlocked(kim!, false));
  await world.relayerDb.run(sql`update operations set retry_at = now() where state = 'PLANNED'`);
  for (const one of [fromBlocked, onward, outside]) await until(one, { state: "CONFIRMED" });
  await eventually(() => transfer(kim!, lee!, "50"), patience);
  await book.post("trf", { $case: "postHold", value: { holdRequestId: outside } });
  await eventually(async () => expect(await book.differences()).toEqual([]), patience);
}, 240_000);

function charge({ walletId }: TestWallet): Promise<string> {
  return book.post("chg", { $case: "charge", value: { walletId, amountWon: "1000" } });
}

function transfer(from: TestWallet, to: TestWallet, amountWon: string): Promise<string> {
  const value = {
    fromWalletId: from.walletId,
    toWalletId: to.walletId,
    amountWon,
    dailyLimitWon: NO_LIMIT,
  };
  return book.post("trf", { $case: "transfer", value });
}

function hold({ walletId }: TestWallet, amountWon: string): Promise<string> {
  const value = { walletId, amountWon, dailyLimitWon: NO_LIMIT, toAddress: OUTSIDE };
  return book.post("hld", { $case: "placeHold", value });
}

/** Answers the transaction's hash. */
function setBlocked({ address }: TestWallet, blocked: boolean): Promise<string> {
  const data = tokenAbi.encodeFunctionData("setBlocked", [address, blocked]);
  const call = { from: world.admin, to: world.contracts.tokenAddress, data, gas: "0x30d40" };
  return world.node.rpc<string>("eth_sendTransaction", [call]);
}

async function mined(hash: string): Promise<void> {
  const receipt = () => world.node.rpc("eth_getTransactionReceipt", [hash]);
  await eventually(async () => expect(await receipt()).toMatchObject({ status: "0x1" }), patience);
}

/** How many block changes the ledger has not taken; none before the first. */
async function countUnposted(): Promise<number> {
  const { unposted } = await world.relayerDb.one<{ unposted: bigint }>(
    sql`select count(*) filter (where posted_at is null) as unposted from wallet_blocks`,
  );
  return Number(unposted);
}

async function countDue(): Promise<number> {
  const rows = await world.relayerDb.query(
    sql`select from operations where state = 'IN_FLIGHT' or state = 'PLANNED' and retry_at <= now()`,
  );
  return rows.length;
}

function until(ledgerRef: string, what: Partial<OperationState>): Promise<void> {
  return eventually(async () => {
    const found = (await readOperations(world)).find((one) => one.ledger_ref === ledgerRef);
    expect(found).toMatchObject(what);
  }, patience);
}
