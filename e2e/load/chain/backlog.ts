import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@wonrail/kit/db";
import { NO_LIMIT, openBook, type TestWallet } from "../../chain/support/book";
import { openWorld, type World } from "../../chain/support/world";
import { startBenchPostgres } from "../postgres";
import { atLeast, atMost, type Result, observed } from "../report";

const WALLETS = 200;
const BLOCK_MS = 1_000;

/** Time until the next block on public networks with the fullest blocks. */
const LONG_BLOCK_MS = 12_000;

/** How much of a block's gas limit settled payments take while more of them wait. */
export function blocksSection(operations: number): Promise<Result[]> {
  return withBacklog(operations, LONG_BLOCK_MS, async (world) => {
    const first = Number(await world.node.rpc<string>("eth_blockNumber"));
    await untilDrained(world, operations, () => undefined);
    const filled = await fillOf(world, first);
    return [
      atLeast(
        "block.fill",
        filled,
        "of the gas limit",
        0.8,
        "mean of all blocks but the first and the last, a block in 12 s",
      ),
    ];
  });
}

/**
 * Posts transfers while the relayer is away, then measures how it drains them onto a chain with one
 * block per second. Custody's hashing and signing rate is a parameter.
 */
export function backlogSection(operations: number, signRate: number): Promise<Result[]> {
  return withBacklog(operations, BLOCK_MS, async (world) => {
    const pids = [world.relayers[0]!.pid(), world.walletService.pid()];
    const cpu = () => pids.map(cpuSeconds);
    const startMs = performance.now();
    const before = cpu();
    let memory = 0;
    let sentMs = 0;
    const allMs = await untilDrained(world, operations, (sent) => {
      memory = Math.max(memory, residentMb(pids[0]!));
      if (sentMs === 0 && sent) sentMs = performance.now() - startMs;
    });
    const [relayer = 0, custody = 0] = cpu().map((seconds, index) => seconds - before[index]!);
    const rate = operations / ((sentMs || allMs) / 1000);
    return [
      observed(
        "backlog.rate",
        rate,
        "operations a second",
        `${operations} waiting, until the last was broadcast`,
      ),
      observed("backlog.cpu", (relayer + custody) / (allMs / 1000), "cores", "of the relayer and of custody"),
      observed(
        "sign.share",
        operations / signRate / (relayer + custody),
        "of their CPU time",
        "hashing and signing",
      ),
      atMost("memory.mb", memory, "MB", 250, "of the relayer, at its highest"),
    ];
  });
}

async function withBacklog(
  operations: number,
  blockMs: number,
  measure: (world: World) => Promise<Result[]>,
): Promise<Result[]> {
  const postgres = await startBenchPostgres();
  process.env.WONRAIL_TEST_POSTGRES_URL = postgres.adminUrl;
  const world = await openWorld({ env: { LOG_LEVEL: "warn" } });
  try {
    world.node.run(200);
    await fill(world, operations);
    await world.node.pause();
    world.node.run(blockMs);
    await world.relayers[0]!.start();
    return await measure(world);
  } finally {
    await world.close();
    await postgres.stop();
  }
}

/** Checks twice a second until all operations are final. Returns the duration. */
async function untilDrained(
  world: World,
  operations: number,
  look: (allSent: boolean) => void,
): Promise<number> {
  const startMs = performance.now();
  for (;;) {
    const { sent, final } = await progress(world);
    look(sent >= operations + WALLETS);
    if (final >= operations + WALLETS) return performance.now() - startMs;
    await sleep(500);
  }
}

/** Fills the journal while the relayer is stopped, so that all operations wait at once. */
async function fill(world: World, operations: number): Promise<void> {
  const [relayer] = world.relayers;
  const book = openBook(world);
  const wallets: TestWallet[] = [];
  for (let number = 0; number < WALLETS; number += 1) wallets.push(await book.openWallet(`user-${number}`));
  await book.postMany(
    wallets.map(({ walletId }) => ({ $case: "charge", value: { walletId, amountWon: "100000000" } })),
  );
  while ((await progress(world)).final < WALLETS) await sleep(200);
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
}

async function progress({ relayerDb }: World): Promise<{ sent: number; final: number }> {
  const { sent, final } = await relayerDb.one<{ sent: bigint; final: bigint }>(sql`
    select count(*) filter (where state in ('IN_FLIGHT', 'CONFIRMED')) as sent, count(*) filter (where state = 'CONFIRMED') as final
    from operations`);
  return { sent: Number(sent), final: Number(final) };
}

/** In the first the relayer was only starting, and for the last there was not enough left. */
async function fillOf({ node }: World, first: number): Promise<number> {
  const newest = Number(await node.rpc<string>("eth_blockNumber"));
  const fills: number[] = [];
  for (let number = first; number <= newest; number += 1) {
    const block = await node.rpc<{ gasUsed: string; gasLimit: string }>("eth_getBlockByNumber", [
      `0x${number.toString(16)}`,
      false,
    ]);
    if (Number(block.gasUsed) > 0) fills.push(Number(block.gasUsed) / Number(block.gasLimit));
  }
  const whole = fills.slice(1, -1);
  return whole.reduce((sum, fill) => sum + fill, 0) / Math.max(whole.length, 1);
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
