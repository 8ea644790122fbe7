import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HttpAnswer, startHttpProxy } from "@wonrail/kit/testing";
import { randomFreePort } from "../process/freePort";
import { startGuard } from "../process/guard";
import { startProcess, type OwnedProcess } from "../process/ownedProcess";
import { prepareAnvil, TRANSACTION_BLOCKS_KEPT, type AnvilPart } from "./anvil";
import { startBlockClock } from "./blockClock";
import type { AnvilState } from "./compactState";
import { jsonRpc } from "./jsonRpc";
import { newMnemonic } from "./mnemonic";

const guard = startGuard();
const closers: (() => Promise<unknown>)[] = [];
const PACE = { blockMs: 50, idleBlockMs: 60_000 };
let dir: string;
let anvil: AnvilPart;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "wonrail-chain-"));
  chmodSync(dir, 0o700);
  const port = await randomFreePort();
  anvil = prepareAnvil({ dir, logFile: join(dir, "anvil.log"), port, mnemonic: await newMnemonic() });
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  rmSync(dir, { recursive: true, force: true });
});
afterAll(() => guard.close());

async function startNode(): Promise<OwnedProcess> {
  const node = await startProcess(anvil.spec, guard);
  closers.push(() => node.stop());
  return node;
}

function startClock(pace = PACE, rpcUrl = anvil.rpcUrl): void {
  const clock = startBlockClock({ ...anvil, rpcUrl, ...pace });
  closers.push(() => clock.close());
}

const rpc = <T>(method: string, ...params: unknown[]): Promise<T> => jsonRpc<T>(anvil.rpcUrl, method, params);
const head = async (): Promise<number> => Number(await rpc<string>("eth_blockNumber"));

/** The head, once it has stayed for the time of twenty blocks. */
async function untilHeadStops(): Promise<number> {
  for (let before = -1; ;) {
    const now = await head();
    if (now === before) return now;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 20 * PACE.blockMs));
  }
}

async function send(): Promise<{ hash: string; from: string }> {
  const [from, to] = await rpc<string[]>("eth_accounts");
  return { hash: await rpc<string>("eth_sendTransaction", { from, to, value: "0x1" }), from: from! };
}

async function untilFinal(hash: string): Promise<number> {
  for (const endMs = Date.now() + 30_000; Date.now() < endMs;) {
    const receipt = await rpc<{ blockNumber: string } | null>("eth_getTransactionReceipt", hash);
    const final = await rpc<{ number: string }>("eth_getBlockByNumber", "finalized", false);
    if (receipt && Number(final.number) >= Number(receipt.blockNumber)) return Number(receipt.blockNumber);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error("never final");
}

test("the clock alone makes a transaction final, and then the chain rests", async () => {
  await startNode();
  startClock();
  const { hash } = await send();
  const block = await untilFinal(hash);
  expect(await untilHeadStops()).toBeLessThanOrEqual(block + 3);
}, 60_000);

test("a final block and its state survive a kill of the node", async () => {
  const first = await startNode();
  startClock();
  const { hash, from } = await send();
  const block = await untilFinal(hash);
  const balance = await rpc<string>("eth_getBalance", from, "finalized");
  process.kill(first.pid, "SIGKILL");
  await first.exited;

  await startNode();
  expect(await untilFinal(hash)).toBe(block);
  expect(await rpc<string>("eth_getBalance", from, "finalized")).toBe(balance);
}, 60_000);

test("chain time moves without transactions", async () => {
  await startNode();
  startClock({ blockMs: 20, idleBlockMs: 200 });
  const before = await head();
  while ((await head()) < before + 5) await new Promise((resolve) => setTimeout(resolve, 50));
}, 60_000);

test("the state is written once for two blocks, and holds the final block after each block", async () => {
  await startNode();
  const calls = { evm_mine: 0, anvil_dumpState: 0 };
  const finalNotKept: number[] = [];
  const proxyUrl = await startProxy(async (method, forward) => {
    const answer = await forward();
    if (method === "anvil_dumpState") calls.anvil_dumpState += 1;
    if (method !== "evm_mine") return answer;
    calls.evm_mine += 1;
    const final = await rpc<{ number: string }>("eth_getBlockByNumber", "finalized", false);
    if (headOf(readState()) < Number(final.number)) finalNotKept.push(Number(final.number));
    return answer;
  });
  startClock(PACE, proxyUrl);
  for (let sent = 0; sent < 20; sent += 1) await untilMined((await send()).hash);
  await untilHeadStops();
  expect(calls.evm_mine).toBeGreaterThanOrEqual(20);
  // Two more dumps: at the first contact with the node, and when the chain comes to rest.
  expect(calls.anvil_dumpState).toBeLessThanOrEqual(calls.evm_mine / 2 + 2);
  expect(finalNotKept).toEqual([]);
  expect(headOf(readState())).toBe(await head());
}, 60_000);

test("the state's size does not grow with the number of sent transactions", async () => {
  const first = await startNode();
  startClock();
  const hashes: string[] = [];
  while ((await head()) < TRANSACTION_BLOCKS_KEPT + 40) {
    hashes.push((await send()).hash);
    await rpc("evm_mine");
  }
  await untilHeadStops();
  // On a busy machine the clock writes the last blocks later.
  while (headOf(readState()) < (await head())) await new Promise((resolve) => setTimeout(resolve, 20));
  const blocks = new Set(readState().transactions.map(({ block_number }) => block_number));
  expect(blocks.size).toBeLessThanOrEqual(TRANSACTION_BLOCKS_KEPT);
  expect(await rpc("eth_getTransactionReceipt", hashes.at(-1))).not.toBeNull();
  const bytes = statSync(anvil.stateFile).size;
  const block = await rpc<{ hash: string }>("eth_getBlockByNumber", "0x5", false);

  process.kill(first.pid, "SIGKILL");
  await first.exited;
  await startNode();
  expect(await rpc("eth_getBlockByNumber", "0x5", false)).toMatchObject({ hash: block.hash });
  expect(await rpc("eth_getTransactionReceipt", hashes.at(-1))).not.toBeNull();
  // Call traces are dropped at a restart.
  expect(statSync(anvil.stateFile).size).toBeLessThan(bytes);
}, 120_000);

const readState = (): AnvilState => JSON.parse(readFileSync(anvil.stateFile, "utf8")) as AnvilState;
const headOf = ({ blocks }: AnvilState): number =>
  blocks.reduce((highest, { header }) => Math.max(highest, Number(header.number)), 0);

async function untilMined(hash: string): Promise<void> {
  for (const endMs = Date.now() + 30_000; Date.now() < endMs;) {
    if ((await rpc("eth_getTransactionReceipt", hash)) !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("never mined");
}

type Look = (method: string, forward: () => Promise<HttpAnswer>) => Promise<HttpAnswer>;

/** An endpoint before the node that shows each call to `look`. Returns its URL. */
async function startProxy(look: Look): Promise<string> {
  const proxy = await startHttpProxy(anvil.rpcUrl, ({ body, forward }) =>
    look((JSON.parse(body) as { method: string }).method, forward),
  );
  closers.push(() => proxy.close());
  return proxy.url;
}
