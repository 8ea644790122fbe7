// Several endpoints, one of them false: it is outvoted, or the relayer waits.
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { startRpcProxy, type RpcProxy } from "../support/rpcProxy";
import { NO_LIMIT, openBook, readOperations, type TestWallet } from "./support/book";
import { type LyingNode, startLyingNode } from "./support/lyingNode";
import { openWorld, type World } from "./support/world";

let world: World;
let liar: LyingNode;
let other: RpcProxy;
let book: ReturnType<typeof openBook>;
let payer: TestWallet;
let receiver: TestWallet;

beforeAll(async () => {
  world = await openWorld({
    rpcUrlsFor: async (url) => {
      [liar, other] = [await startLyingNode(url), await startRpcProxy(url, 1)];
      return [liar.url, url, other.url].join(",");
    },
    relayerEnv: { RECONCILE_EVERY_MS: "500" },
  });
  world.node.run(150);
  book = openBook(world);
  [payer, receiver] = [await book.openWallet("payer"), await book.openWallet("receiver")];
  const charge = { walletId: payer.walletId, amountWon: "900000" };
  await untilConfirmed(await book.post("chg", { $case: "charge", value: charge }));
}, 240_000);
afterEach(() => liar.tellTheTruth());
afterAll(async () => {
  await world.close();
  await liar.close();
  await other.close();
}, 120_000);

test("one of three endpoints that invents a deposit or blocks is outvoted and reported", async () => {
  const before = await disagreements();
  liar.invent({ tokenAddress: world.contracts.tokenAddress, to: payer.address, units: 5_000_000_000n });
  await untilConfirmed(await transfer("100"));
  await untilOutvoted(before);
  liar.forgeBlocks();
  await untilConfirmed(await transfer("200"));
  expect(await deposits()).toBe(0n);
  expect(await book.differences()).toEqual([]);
}, 180_000);

test("wrong nonces, fees, gas, receipts and balances of the first of three endpoints change nothing", async () => {
  const before = await disagreements();
  liar.exaggerate();
  const ids = [await transfer("210"), await transfer("220")];
  for (const id of ids) await untilConfirmed(id);
  expect((await Promise.all(ids.map(stateOf))).map((one) => one?.attempts)).toEqual([1, 1]);
  await untilCompared();
  expect(await world.relayerDb.query(sql`select * from drifts`)).toEqual([]);
  await untilOutvoted(before);
  expect(await book.differences()).toEqual([]);
}, 180_000);

test("settlement continues and reports the disagreement when the first of three endpoints stands still", async () => {
  liar.standStillAt(Number(await world.node.rpc<string>("eth_blockNumber")));
  await world.node.mine(70);
  const before = await disagreements();
  await untilConfirmed(await transfer("230"));
  await untilOutvoted(before);
  expect(await book.differences()).toEqual([]);
}, 180_000);

test("ingestion waits without loss while two endpoints disagree", async () => {
  const [relayer] = world.relayers;
  const second = await startRpcProxy(world.node.url, 2);
  try {
    await relayer!.stop();
    liar.invent({ tokenAddress: world.contracts.tokenAddress, to: payer.address, units: 7_000_000_000n });
    await relayer!.start({ CHAIN_RPC_URLS: [liar.url, second.url].join(",") });
    const id = await transfer("300");
    await eventually(async () => expect((await stateOf(id))?.state).toBe("IN_FLIGHT"), { timeoutMs: 60_000 });
    const cursor = await cursorBlock();
    await sleep(2_000);
    expect([(await stateOf(id))?.state, await cursorBlock(), await deposits()]).toEqual([
      "IN_FLIGHT",
      cursor,
      0n,
    ]);
    liar.tellTheTruth();
    await untilConfirmed(id);
    expect(await deposits()).toBe(0n);
    expect(await book.differences()).toEqual([]);
  } finally {
    await relayer!.stop();
    await second.close();
    await relayer!.start();
  }
}, 240_000);

test("settlement continues when one endpoint is a few blocks behind", async () => {
  other.setFaults(["stale"]);
  other.setRate(1);
  const id = await transfer("400");
  await untilConfirmed(id);
  other.setRate(0);
  expect((await stateOf(id))?.attempts).toBe(1);
  expect(await book.differences()).toEqual([]);
}, 180_000);

test("settlement continues when one endpoint never answers", async () => {
  other.setFaults(["http_500", "html", "dropped"]);
  other.setRate(1);
  await untilConfirmed(await transfer("500"));
  other.setRate(0);
  expect(await book.differences()).toEqual([]);
}, 180_000);

function transfer(amountWon: string): Promise<string> {
  const value = { fromWalletId: payer.walletId, toWalletId: receiver.walletId, amountWon };
  return book.post("trf", { $case: "transfer", value: { ...value, dailyLimitWon: NO_LIMIT } });
}

async function stateOf(ledgerRef: string) {
  return (await readOperations(world)).find((one) => one.ledger_ref === ledgerRef);
}

async function untilConfirmed(ledgerRef: string): Promise<void> {
  await eventually(async () => expect((await stateOf(ledgerRef))?.state).toBe("CONFIRMED"), {
    timeoutMs: 60_000,
    intervalMs: 100,
  });
}

/** Waits until one more comparison of all books has run completely. */
async function untilCompared(): Promise<void> {
  const { now } = await world.relayerDb.one<{ now: Date }>(sql`select now() as now`);
  await eventually(
    async () => {
      const since = sql`select 1 from reconciliation where started_at > ${now} and finished_at > started_at`;
      expect(await world.relayerDb.query(since)).toHaveLength(1);
    },
    { timeoutMs: 60_000 },
  );
}

async function deposits(): Promise<bigint> {
  return (await world.relayerDb.one<{ count: bigint }>(sql`select count(*) as count from deposits`)).count;
}

async function cursorBlock(): Promise<bigint> {
  return (await world.relayerDb.one<{ block_number: bigint }>(sql`select block_number from scan_cursor`))
    .block_number;
}

/** The vote on logs or balances may come after the settlement. */
async function untilOutvoted(before: number): Promise<void> {
  await eventually(async () => expect(await disagreements()).toBeGreaterThan(before), { timeoutMs: 60_000 });
}

/** How often the liar was outvoted. */
async function disagreements(): Promise<number> {
  const text = await (await fetch(`http://${world.relayers[0]!.ops}/metrics`)).text();
  const line = text
    .split("\n")
    .find((one) => one.startsWith("rpc_disagreement_total") && one.includes(liar.host));
  return Number(line?.split(" ").at(-1) ?? 0);
}
