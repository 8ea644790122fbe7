import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { pick, seeded } from "@wonrail/kit/testing/random";
import { readChain } from "./support/audit";
import { NO_LIMIT, openBook, untilSettled } from "./support/book";
import { openWorkload } from "./support/workload";
import { openWorld, type World } from "./support/world";

const SEED = Number(process.env.SEED ?? Date.now() % 100_000);
const CALLERS = 6;
const POSTS_EACH = 25;

let world: World;
let second: Awaited<ReturnType<World["addLedger"]>>;

beforeAll(async () => {
  world = await openWorld({ relayers: 2 });
  world.node.run(250);
  second = await world.addLedger();
}, 240_000);
afterAll(async () => {
  await second.close();
  await world.close();
}, 120_000);

test(`settles each entry of two ledger replicas once and in account order while relayers are killed (seed ${SEED})`, async () => {
  const random = seeded(SEED);
  const replicas = [world.ledger, second.ledger];
  const ledger = {
    ...world.ledger,
    post: (request: Parameters<World["ledger"]["post"]>[0]) => pick(random, replicas).post(request),
  };
  const workload = await openWorkload({ ...world, ledger }, random);
  let posting = true;
  const killing = (async () => {
    for (let number = 0; posting; number += 1) {
      const relayer = world.relayers[number % 2]!;
      await sleep(300 + random() * 700);
      await relayer.kill();
      await relayer.start();
    }
  })();
  await Promise.all(Array.from({ length: CALLERS }, () => workload.post(POSTS_EACH)));
  posting = false;
  await killing;
  const settled = await untilSettled(world, workload.posted(), 120_000);

  expect(settled).toHaveLength(workload.posted());
  const chain = await readChain(world);
  expect([...chain.executions.values()].filter((times) => times !== 1)).toEqual([]);
  expect(await workload.differences()).toEqual([]);
  expect(await outOfOrder()).toEqual([]);
  const queues = await world.relayerDb.query<{ behind: bigint }>(
    sql`select head_sequence - cursor_sequence as behind from settlement_queues`,
  );
  expect(queues.map(({ behind }) => behind)).toEqual(queues.map(() => 0n));
}, 300_000);

test("a backlog of 20,000 entries stays in the ledger's journal, and a paused organisation blocks no other", async () => {
  const [long, paused, other] = [openBook(world), openBook(world), openBook(world)];
  await world.node.pause();
  const wallets = await Promise.all(
    [long, paused, other].map((book, number) => book.openWallet(`user-${number}`)),
  );
  const charges = (walletId: string, count: number) =>
    Array.from({ length: count }, () => ({
      $case: "charge" as const,
      value: { walletId, amountWon: "10", dailyLimitWon: NO_LIMIT },
    }));
  await paused.postMany(charges(wallets[1]!.walletId, 1));
  await eventually(async () => expect(await pulledOf(paused.orgId)).toBe(1), { timeoutMs: 10_000 });
  await world.relayerDb.run(
    sql`update settlement_queues set paused_reason = 'asked to' where org_id = ${paused.orgId}`,
  );
  await paused.postMany(charges(wallets[1]!.walletId, 600));
  await long.postMany(charges(wallets[0]!.walletId, 20_000));
  await eventually(
    async () => {
      const { head } = await world.relayerDb.one<{ head: bigint }>(
        sql`select head_sequence as head from settlement_queues where org_id = ${long.orgId}`,
      );
      expect(head).toBeGreaterThanOrEqual(20_000n);
    },
    { timeoutMs: 60_000 },
  );
  // All that may be in flight, planned and waiting together.
  expect(await pulledOf(long.orgId)).toBeLessThan(10_000);
  expect(await pulledOf(paused.orgId)).toBe(1);

  // The next room goes to the organisation that was served longest ago.
  const [ref] = await other.postMany(charges(wallets[2]!.walletId, 1));
  world.node.run(250);
  await eventually(
    async () => {
      const row = await world.relayerDb.one(sql`select state from operations where ledger_ref = ${ref!}`);
      expect(row).toEqual({ state: "CONFIRMED" });
    },
    { timeoutMs: 60_000 },
  );
}, 240_000);

async function pulledOf(orgId: string): Promise<number> {
  const { count } = await world.relayerDb.one<{ count: bigint }>(
    sql`select count(*) from operations where org_id = ${orgId}`,
  );
  return Number(count);
}

/** Operations of one wallet whose turns differ from the ledger's order. */
function outOfOrder() {
  return world.relayerDb.query(sql`
    select earlier.ledger_ref, later.ledger_ref from operations earlier
    join operations later on later.org_id = earlier.org_id and later.wallets && earlier.wallets
      and later.org_sequence > earlier.org_sequence and later.turn < earlier.turn limit 10`);
}
