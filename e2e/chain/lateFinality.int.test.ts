// Finality comes so late that the unfinal transactions exceed the limit of one answer.
import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { openBook, untilSettled } from "./support/book";
import { type LyingNode, startLyingNode } from "./support/lyingNode";
import { openWorld, type World } from "./support/world";

const FINALITY = 64;
/** Their receipts are 21 MB. */
const TRANSACTIONS = 60;

let world: World;
let node: LyingNode;

beforeAll(async () => {
  world = await openWorld({
    rpcUrlsFor: async (url) => {
      node = await startLyingNode(url);
      return node.url;
    },
    relayerEnv: { FINALITY: String(FINALITY), MAX_STEPS: "1" },
  });
  node.sayMuch();
}, 240_000);
afterAll(async () => {
  await world.close();
  await node.close();
}, 120_000);

test("sixty large transactions that wait for finality block neither later ones nor their own settlement", async () => {
  const book = openBook(world);
  const { walletId } = await book.openWallet("payer");
  for (let count = 0; count < TRANSACTIONS; count += 1)
    await book.post("chg", { $case: "charge", value: { walletId, amountWon: "100" } });
  await eventually(
    async () => {
      await world.node.mine();
      expect(await countMined()).toBe(TRANSACTIONS);
    },
    { timeoutMs: 120_000, intervalMs: 500 },
  );
  await world.node.mine(FINALITY);
  const settled = await untilSettled(world, TRANSACTIONS, 90_000);
  expect(settled.filter(({ state }) => state !== "CONFIRMED")).toEqual([]);
  expect(await book.differences()).toEqual([]);
}, 240_000);

async function countMined(): Promise<number> {
  const rows = await world.relayerDb.query(sql`select from transactions where state in ('MINED', 'FINAL')`);
  return rows.length;
}
