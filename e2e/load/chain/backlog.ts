import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@wonrail/kit/db";
import { NO_LIMIT, openBook, type TestWallet } from "../../chain/support/book";
import { openWorld, type World } from "../../chain/support/world";
import { startBenchPostgres } from "../postgres";
import { atLeast, atMost, type Result, told } from "../report";

const WALLETS = 200;
const BLOCK_MS = 1_000;

/** So many transfers posted while the relayer is away; then it comes, and drains them onto a chain of one block a second. */
export async function backlogSection(operations: number): Promise<Result[]> {
  const postgres = await startBenchPostgres();
  process.env.WONRAIL_TEST_POSTGRES_URL = postgres.adminUrl;
  const world = await openWorld({ relayerEnv: { LOG_LEVEL: "warn" } });
  try {
    return await measure(world, operations);
  } finally {
    await world.close();
    await postgres.stop();
  }
}

async function measure(world: World, operations: number): Promise<Result[]> {
  const [relayer] = world.relayers;
  world.node.run(BLOCK_MS);
  await fill(world, operations);
  const before = await settled(world);
  const startMs = performance.now();
  const startCpu = cpuSeconds(relayer!.pid());
  let memory = 0;
  let sentMs = 0;
  for (let done = before; done < before + operations; done = await settled(world)) {
    memory = Math.max(memory, residentMb(relayer!.pid()));
    if (sentMs === 0 && (await broadcast(world)) >= before + operations) sentMs = performance.now() - startMs;
    await sleep(500);
  }
  const allMs = performance.now() - startMs;
  const seconds = (sentMs || allMs) / 1000;
  const { fill: best } = await fullestBlocks(world);
  const rate = operations / seconds;
  return [
    atLeast(
      "block.fill",
      best,
      "of the gas limit",
      0.8,
      "the fuller half of the blocks that carried anything",
    ),
    told("backlog.rate", rate, "operations a second", `${operations} waiting, until the last was broadcast`),
    told("backlog.cpu", (cpuSeconds(relayer!.pid()) - startCpu) / (allMs / 1000), "cores of the relayer"),
    atMost("memory.mb", memory, "MB", 250, "of the relayer, at its highest"),
  ];
}

/** Stopped meanwhile, so that all of it waits at once. */
async function fill(world: World, operations: number): Promise<void> {
  const [relayer] = world.relayers;
  const book = openBook(world);
  const wallets: TestWallet[] = [];
  for (let number = 0; number < WALLETS; number += 1) wallets.push(await book.openWallet(`user-${number}`));
  await book.postMany(
    wallets.map(({ walletId }) => ({ $case: "charge", value: { walletId, amountWon: "100000000" } })),
  );
  while ((await settled(world)) < WALLETS) await sleep(200);
  await relayer!.stop();
  const transfers = Array.from({ length: operations }, (_, number) => ({
    $case: "transfer" as const,
    value: {
      fromWalletId: wallets[number % WALLETS]!.walletId,
      toWalletId:
        wallets[
          (number * 7 + 1) % WALLETS === number % WALLETS
            ? (number + 1) % WALLETS
            : (number * 7 + 1) % WALLETS
        ]!.walletId,
      amountWon: "10",
      dailyLimitWon: NO_LIMIT,
    },
  }));
  await book.postMany(transfers);
  await relayer!.start();
}

async function settled({ relayerDb }: World): Promise<number> {
  const { count } = await relayerDb.one<{ count: bigint }>(
    sql`select count(*) as count from operations where state = 'CONFIRMED'`,
  );
  return Number(count);
}

async function broadcast({ relayerDb }: World): Promise<number> {
  const { count } = await relayerDb.one<{ count: bigint }>(
    sql`select count(*) as count from operations where state in ('IN_FLIGHT', 'CONFIRMED')`,
  );
  return Number(count);
}

async function fullestBlocks({ node }: World): Promise<{ fill: number }> {
  const newest = Number(await node.rpc<string>("eth_blockNumber"));
  const fills: number[] = [];
  for (let number = 0; number <= newest; number += 1) {
    const block = await node.rpc<{ gasUsed: string; gasLimit: string }>("eth_getBlockByNumber", [
      `0x${number.toString(16)}`,
      false,
    ]);
    if (Number(block.gasUsed) > 5_000_000) fills.push(Number(block.gasUsed) / Number(block.gasLimit));
  }
  const half = fills.sort((one, other) => other - one).slice(0, Math.ceil(fills.length / 2));
  return { fill: half.reduce((sum, fill) => sum + fill, 0) / Math.max(half.length, 1) };
}

function residentMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
  return Number(kb) / 1024;
}

function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
