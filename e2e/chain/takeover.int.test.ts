// Two cases with outdated state: a replica that wakes up after its lease was taken over, and a
// database older than the chain.
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { seeded } from "@wonrail/kit/testing/random";
import { readChain } from "./support/audit";
import { openBook, readOperations, untilSettled } from "./support/book";
import { takeSnapshot } from "./support/snapshot";
import { openWorkload } from "./support/workload";
import { openWorld, type World } from "./support/world";

const BLOCK_MS = 150;
/** A test that is slow still finds the sleeper at its point. */
const SLEEP_MS = 10_000;

let world: World;
/** Number of operations of all tests so far. */
let operations = 0;

beforeAll(async () => {
  world = await openWorld({ relayers: 2, relayerEnv: { RESEND_AFTER_MS: "1000" } });
}, 240_000);
afterAll(() => world.close(), 120_000);

test.each([
  { point: "relayer.r1", state: "PLANNED", when: "before it signs" },
  { point: "relayer.r2", state: "IN_FLIGHT", when: "between storing and sending" },
  { point: "relayer.r3", state: "IN_FLIGHT", when: "between sending and noting it" },
])(
  "a replica that is stopped $when, and wakes up when another has settled everything, does nothing twice",
  async ({ point, state }) => {
    const [sleeper, other] = world.relayers;
    await Promise.all([sleeper!.kill(), other!.kill()]);
    await sleeper!.start({ FAILPOINTS: `${point}:delay=${SLEEP_MS}` });
    await world.node.pause();
    const book = openBook(world);
    const { walletId } = await book.openWallet("someone");
    const charge = { walletId, amountWon: "1000" };
    const id = await book.post("chg", { $case: "charge", value: charge });
    await eventually(
      async () => {
        const found = (await readOperations(world)).find((one) => one.ledger_ref === id);
        expect(found?.state).toBe(state);
      },
      { timeoutMs: 60_000, intervalMs: 20 },
    );
    const awakeMs = Date.now() + SLEEP_MS;
    sleeper!.signal("SIGSTOP");
    world.node.run(BLOCK_MS);
    await other!.start();
    operations += 1;
    await untilSettled(world, operations, 90_000);
    const before = await signedTransactions();

    // A stopped process continues its sleep, and passes the failpoint as soon as it can.
    await sleep(Math.max(0, awakeMs - Date.now()));
    sleeper!.signal("SIGCONT");
    const { walletId: second } = await book.openWallet("another");
    await book.post("chg", { $case: "charge", value: { walletId: second, amountWon: "2000" } });
    operations += 1;
    await untilSettled(world, operations, 90_000);
    const chain = await readChain(world);
    expect([...chain.executions.values()].filter((times) => times !== 1)).toEqual([]);
    expect(chain.repeats).toBe(0);
    expect(await signedTransactions()).toBe(before + 1n);
    expect(await book.differences()).toEqual([]);
  },
  240_000,
);

test("a restored database without the last sixty operations finds them on the chain and pays none again", async () => {
  const [relayer, other] = world.relayers;
  await Promise.all([relayer!.kill(), other!.kill()]);
  await world.node.pause();
  world.node.run(BLOCK_MS);
  await relayer!.start();
  const workload = await openWorkload(world, seeded(5));
  await workload.post(10);
  await untilSettled(world, operations + workload.posted(), 90_000);
  await relayer!.stop();
  const snapshot = await takeSnapshot(world);
  await relayer!.start();
  await workload.post(60);
  await untilSettled(world, operations + workload.posted(), 120_000);
  await relayer!.stop();
  const before = await readChain(world);

  await snapshot.restore();
  await relayer!.start();
  const settled = await untilSettled(world, operations + workload.posted(), 120_000);
  expect(settled.filter(({ state }) => state !== "CONFIRMED")).toEqual([]);
  const chain = await readChain(world);
  expect([...chain.executions.values()].filter((times) => times !== 1)).toEqual([]);
  expect(chain.executions.size).toBe(before.executions.size);
  expect(chain.balances).toEqual(before.balances);
  expect(await workload.differences()).toEqual([]);
  const { count } = await world.relayerDb.one<{ count: bigint }>(sql`select count(*) as count from deposits`);
  expect(count).toBe(0n);

  await workload.post(5);
  await untilSettled(world, operations + workload.posted(), 90_000);
  expect(await workload.differences()).toEqual([]);
}, 600_000);

async function signedTransactions(): Promise<bigint> {
  const { count } = await world.relayerDb.one<{ count: bigint }>(
    sql`select count(*) as count from transaction_versions`,
  );
  return count;
}
