import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomFreePort } from "../process/freePort";
import { startGuard } from "../process/guard";
import { startProcess, type OwnedProcess } from "../process/ownedProcess";
import { prepareAnvil, type AnvilPart } from "./anvil";
import { startBlockClock } from "./blockClock";
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

function startClock(pace = PACE): void {
  const clock = startBlockClock({ ...anvil, ...pace });
  closers.push(() => clock.close());
}

const rpc = <T>(method: string, ...params: unknown[]): Promise<T> => jsonRpc<T>(anvil.rpcUrl, method, params);
const head = async (): Promise<number> => Number(await rpc<string>("eth_blockNumber"));

/** What the head is when it has not moved for as long as twenty blocks take. */
async function headAtRest(): Promise<number> {
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

test("a transaction is mined and becomes final without anybody else doing anything; then the chain rests", async () => {
  await startNode();
  startClock();
  const { hash } = await send();
  const block = await untilFinal(hash);
  expect(await headAtRest()).toBeLessThanOrEqual(block + 3);
}, 60_000);

test("what was final is there after a kill, and can be asked about", async () => {
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

test("chain time moves when nothing happens", async () => {
  await startNode();
  startClock({ blockMs: 20, idleBlockMs: 200 });
  const before = await head();
  while ((await head()) < before + 5) await new Promise((resolve) => setTimeout(resolve, 50));
}, 60_000);
