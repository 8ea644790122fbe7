import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@wonrail/kit/testing";
import { pick, seeded } from "@wonrail/kit/testing/random";
import { type RpcProxy, startRpcProxy } from "../support/rpcProxy";
import { readChain } from "./support/audit";
import { untilSettled } from "./support/book";
import { openWorkload } from "./support/workload";
import { openWorld, type World } from "./support/world";

/**
 * WONRAIL_DEEP, set by `npm run faults`, makes the test eight times as long. WONRAIL_SEED=7 repeats
 * a run.
 */
const LONGER = process.env.WONRAIL_DEEP === undefined ? 1 : 8;
const ROUNDS = 10 * LONGER;
const SEED = Number(process.env.WONRAIL_SEED ?? Date.now() % 1_000_000);
const OPERATIONS = 26 * ROUNDS;
const DEEPEST_REORG = 8;

let world: World;
let proxy: RpcProxy;

beforeAll(async () => {
  world = await openWorld({
    relayers: 2,
    rpcUrlsFor: async (url) => {
      proxy = await startRpcProxy(url, SEED);
      return proxy.url;
    },
    relayerEnv: {
      FINALITY: String(DEEPEST_REORG + 2),
      CHAIN_RPC_TIMEOUT_MS: "700",
      MAX_STEPS: "20",
      LEASE_MS: "3000",
      RESEND_AFTER_MS: "1500",
      REPLACE_AFTER_MS: "6000",
    },
  });
  world.node.run(250);
}, 240_000);
afterAll(async () => {
  await world.close();
  await proxy.close();
}, 120_000);

test(
  `pays each of ${OPERATIONS} operations once through faults, reorganisations and kills (seed ${SEED})`,
  async () => {
    const random = seeded(SEED);
    const workload = await openWorkload(world, random);
    proxy.setRate(0.2);
    const over = new AbortController();
    const trouble = [killReplicas(over.signal), rearrangeBlocks(over.signal, random)];
    for (let round = 0; round < ROUNDS; round += 1) {
      await workload.post(OPERATIONS / ROUNDS);
      await sleep(500);
    }
    // The number of requests depends on the machine, so the faults last until enough requests
    // failed.
    await eventually(() => expect(proxy.faultsDone()).toBeGreaterThan(50), { timeoutMs: 60_000 });
    over.abort();
    await Promise.all(trouble);
    proxy.setRate(0);

    const settled = await untilSettled(world, workload.posted(), 180_000);
    expect(settled).toHaveLength(workload.posted());
    expect(settled.filter(({ state }) => state !== "CONFIRMED")).toEqual([]);
    const chain = await readChain(world);
    expect([...chain.executions.values()].filter((times) => times !== 1)).toEqual([]);
    expect([...chain.authorizations.values()].filter((times) => times !== 1)).toEqual([]);
    expect(new Set(chain.executions.keys())).toEqual(new Set(settled.map((one) => one.operation_id)));
    expect(await workload.differences()).toEqual([]);
  },
  180_000 * LONGER,
);

/** Kills one replica after the other and restarts it; sometimes it only sleeps past its lease. */
async function killReplicas(signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    await pause(3_000, signal);
    const relayer = world.relayers[turn % world.relayers.length]!;
    if (turn % 3 === 2) {
      relayer.signal("SIGSTOP");
      await sleep(4_000);
      relayer.signal("SIGCONT");
    } else {
      await relayer.kill();
      // A node on the wrong chain stops the start, as it should; the supervisor tries again.
      await eventually(() => relayer.start(), { timeoutMs: 60_000 });
    }
  }
}

/** By turns the node mines each transaction by itself, and blocks are replaced. */
async function rearrangeBlocks(signal: AbortSignal, random: () => number): Promise<void> {
  while (!signal.aborted) {
    await world.node.rpc("evm_setAutomine", [true]);
    await pause(2_500, signal);
    await world.node.rpc("evm_setAutomine", [false]);
    for (let reorganisation = 0; reorganisation < 2; reorganisation += 1) {
      await pause(1_250, signal);
      await world.node.reorganise(pick(random, [1, 2, 3, 5, DEEPEST_REORG]));
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined);
}
