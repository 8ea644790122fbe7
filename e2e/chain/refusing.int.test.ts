// A chain that refuses everything: after one refusal operations are simulated, and not sent again
// for gas.
import { managerAbi, tokenAbi } from "@wonrail/chain-relayer/evm/contracts";
import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { id } from "ethers";
import { NO_LIMIT, openBook, readOperations } from "./support/book";
import { openWorld, type World } from "./support/world";

const BACKLOG = 40;
const patience = { timeoutMs: 60_000 };

let world: World;
let book: ReturnType<typeof openBook>;
let wallets: string[];

beforeAll(async () => {
  world = await openWorld({ relayerEnv: { MAX_STEPS: "10" } });
  world.node.run(150);
  await world.node.rpc("anvil_impersonateAccount", [world.admin]);
  await world.node.rpc("anvil_setBalance", [world.admin, "0x56bc75e2d63100000"]);
  book = openBook(world);
  const opened = [await book.openWallet("payer"), await book.openWallet("receiver")];
  wallets = opened.map(({ walletId }) => walletId);
  const charges = await book.postMany([
    { $case: "charge", value: { walletId: wallets[0]!, amountWon: "900000" } },
  ]);
  await until(charges, { state: "CONFIRMED" });
}, 240_000);
afterAll(() => world.close(), 120_000);

test("a backlog is sent once while the token is paused, and settles afterwards", async () => {
  const call = (name: "pause" | "unpause") => ({
    to: world.contracts.tokenAddress,
    data: tokenAbi.encodeFunctionData(name),
  });
  await asAdmin(call("pause"));
  const ids = await backlog();
  await until(ids, { state: "PLANNED", wait_reason: "EnforcedPause" });
  await askAgain(ids, "EnforcedPause");
  await asAdmin(call("unpause"));
  await due();
  await until(ids, { state: "CONFIRMED" });
}, 240_000);

test("a backlog is sent once and reported while the operator lacks its role, and settles with the role", async () => {
  const call = (name: "revokeRole" | "grantRole") => ({
    to: world.contracts.paymentManagerAddress,
    data: managerAbi.encodeFunctionData(name, [id("OPERATOR_ROLE"), world.operator]),
  });
  await asAdmin(call("revokeRole"));
  const ids = await backlog();
  await until(ids, { state: "PLANNED", wait_reason: "operator_role_missing" });
  await askAgain(ids, "operator_role_missing");
  await eventually(async () => expect(await roleMissing()).toBe("1"), patience);
  await asAdmin(call("grantRole"));
  await due();
  await until(ids, { state: "CONFIRMED" });
  await eventually(async () => expect(await roleMissing()).toBe("0"), patience);
}, 240_000);

test("the chain's balances then equal the ledger's", async () => {
  await eventually(async () => expect(await book.differences()).toEqual([]), patience);
});

function backlog(): Promise<string[]> {
  const [fromWalletId, toWalletId] = wallets as [string, string];
  const value = { fromWalletId, toWalletId, amountWon: "1", dailyLimitWon: NO_LIMIT };
  return book.postMany(Array.from({ length: BACKLOG }, () => ({ $case: "transfer", value })));
}

/** Makes all waiting operations due repeatedly; none may be sent again. */
async function askAgain(ids: string[], reason: string): Promise<void> {
  const nonce = () => world.node.rpc<string>("eth_getTransactionCount", [world.operator, "latest"]);
  const before = await nonce();
  for (let round = 0; round < 5; round += 1) {
    await due();
    await until(ids, { state: "PLANNED", wait_reason: reason, attempts: 1 });
    await eventually(async () => expect(await countDue()).toBe(0), patience);
  }
  expect(await nonce()).toBe(before);
}

async function due(): Promise<void> {
  await world.relayerDb.run(sql`update operations set retry_at = now() where state = 'PLANNED'`);
}

async function countDue(): Promise<number> {
  const rows = await world.relayerDb.query(
    sql`select from operations where state <> 'CONFIRMED' and (state <> 'PLANNED' or retry_at <= now())`,
  );
  return rows.length;
}

function until(ids: string[], what: object): Promise<void> {
  return eventually(async () => {
    const wanted = new Set(ids);
    const found = (await readOperations(world)).filter(({ ledger_ref: ref }) => wanted.has(ref));
    expect(found).toHaveLength(ids.length);
    for (const operation of found) expect(operation).toMatchObject(what);
  }, patience);
}

async function asAdmin(call: { to: string; data: string }): Promise<void> {
  const transaction = { from: world.admin, gas: "0x30d40", ...call };
  const hash = await world.node.rpc<string>("eth_sendTransaction", [transaction]);
  const receipt = () => world.node.rpc("eth_getTransactionReceipt", [hash]);
  await eventually(async () => expect(await receipt()).toMatchObject({ status: "0x1" }), patience);
}

async function roleMissing(): Promise<string | undefined> {
  const text = await (await fetch(`http://${world.relayers[0]!.ops}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith("operator_role_missing"));
  return line?.split(" ").at(-1);
}
