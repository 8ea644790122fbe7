import { eventually } from "@wonrail/kit/testing";
import { seeded } from "@wonrail/kit/testing/random";
import { readChain } from "./support/audit";
import { openBook, readOperations, untilSettled } from "./support/book";
import { openWorkload } from "./support/workload";
import { openWorld, type World } from "./support/world";

/** WONRAIL_DEEP, as `npm run faults` sets it, repeats each crash ten times. */
const REPEATS = process.env.WONRAIL_DEEP === undefined ? 1 : 10;
const BLOCK_MS = 100;

let world: World;
/** Number of operations of all tests so far. */
let operations = 0;

beforeAll(async () => {
  world = await openWorld({ relayers: 1, relayerEnv: { RESEND_AFTER_MS: "1000" } });
}, 240_000);
afterAll(() => world.close(), 120_000);

const repeats = Array.from({ length: REPEATS }, (_, number) => number + 1);

describe.each(repeats)("round %i", (round) => {
  test.each(["relayer.r1", "relayer.r2", "relayer.r3", "relayer.r4"])(
    "a relayer that dies at %s, on the way to the chain, pays once",
    async (point) => {
      const [relayer] = world.relayers;
      await relayer!.kill();
      await start({ FAILPOINTS: `${point}:kill` });
      const workload = await openWorkload(world, seeded(round));
      await workload.post(5);
      expect(await relayer!.exited()).toEqual({ code: null, signal: "SIGKILL" });
      await finish(workload);
    },
    180_000,
  );

  test.each(["relayer.r5", "relayer.r6"])(
    "a relayer that dies at %s, on the way back from the chain, tells it once",
    async (point) => {
      const [relayer] = world.relayers;
      const workload = await openWorkload(world, seeded(round));
      await workload.post(5);
      await eventually(
        async () => {
          const open = await readOperations(world);
          expect(open.filter(({ state }) => state === "IN_FLIGHT").length).toBeGreaterThan(0);
        },
        { timeoutMs: 60_000 },
      );
      await relayer!.kill();
      await start({ FAILPOINTS: `${point}:kill` });
      await world.node.mine(4);
      expect(await relayer!.exited()).toEqual({ code: null, signal: "SIGKILL" });
      await finish(workload);
    },
    180_000,
  );
});

test("the hash is stored before the transaction is sent, so a lost answer loses nothing (x402 786)", async () => {
  const [relayer] = world.relayers;
  const book = openBook(world);
  const { walletId } = await book.openWallet("someone");
  await relayer!.kill();
  await start({ FAILPOINTS: "relayer.r3:kill" });
  const chargeId = await book.post("chg", { $case: "charge", value: { walletId, amountWon: "1000" } });
  await relayer!.exited();
  const before = (await readOperations(world)).find(({ ledger_ref }) => ledger_ref === chargeId)!;
  expect(before).toMatchObject({ state: "IN_FLIGHT", tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  await world.node.mine();
  const receipt = await world.node.rpc<{ status: string }>("eth_getTransactionReceipt", [before.tx_hash]);
  expect(receipt.status).toBe("0x1");
  await finish(book);
}, 180_000);

async function start(extra: Record<string, string> = {}): Promise<void> {
  await world.relayers[0]!.start(extra);
}

async function finish(work: { differences(): Promise<string[]>; posted(): number }): Promise<void> {
  operations += work.posted();
  await start();
  world.node.run(BLOCK_MS);
  const settled = await untilSettled(world, operations);
  await world.node.pause();
  const chain = await readChain(world);
  expect(settled.filter(({ state }) => state !== "CONFIRMED")).toEqual([]);
  expect([...chain.executions.values()].filter((times) => times !== 1)).toEqual([]);
  expect([...chain.authorizations.values()].filter((times) => times !== 1)).toEqual([]);
  expect(await work.differences()).toEqual([]);
}
