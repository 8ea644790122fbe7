import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { checkOut } from "../../../upgrade/release";
import { ROOT } from "../../../ops/repository";
import { median } from "../../compare";
import { atLeast, atMost, type Result, observed } from "../../report";
import { type Bus, type RunningStack, startStackOf } from "./stack";
import { pay, payInTurn, settleInTurn, type Turn } from "./turn";

export interface AgainstOptions {
  /** A commit, or the folder of another checkout. */
  other: string;
  turns: number;
  seconds: number;
  bus: Bus;
  wallets: number;
}

type Both<T> = [current: T, other: T];
type Stacks = Both<RunningStack>;

const CONNECTIONS = 64;

/**
 * Runs this checkout and another commit as two complete stacks, with settlement. The stacks are
 * measured in turns, and a signal stops the idle one, so that it uses no processor time.
 */
export async function measureAgainst(options: AgainstOptions): Promise<Result[]> {
  const place = mkdtempSync(join(tmpdir(), "wonrail-against-"));
  chmodSync(place, 0o711);
  const stacks: RunningStack[] = [];
  try {
    const { other } = options;
    const isFolder = existsSync(join(other, "package.json"));
    const folder = isFolder ? resolve(other) : await checkOut(other, place);
    for (const [index, from] of [ROOT, folder].entries()) {
      const stack = await startStackOf(from, join(place, `home${index}`), options.bus, options.wallets);
      stack.pause();
      stacks.push(stack);
    }
    return await compareStacks(stacks as Stacks, options);
  } finally {
    for (const stack of stacks) await stack.stop();
    rmSync(place, { recursive: true, force: true });
  }
}

async function compareStacks(stacks: Stacks, { turns, seconds, other }: AgainstOptions): Promise<Result[]> {
  const few = Math.ceil(turns / 2);
  const payWith = (connections: number) => (stack: RunningStack) => payInTurn(stack, connections, seconds);
  await inTurns(stacks, 1, payWith(CONNECTIONS));
  const usual = await inTurns(stacks, turns, payWith(CONNECTIONS));
  const lone = await inTurns(stacks, few, payWith(1));
  const settled = await inTurns(stacks, few, (stack) => settleInTurn(stack, CONNECTIONS, seconds));
  const hot = await hotAgainstSpread(stacks[0], few, seconds);
  const rate = ({ load }: Turn) => load.perSecond;
  const [ours, theirs] = usual.map((all) => midOf(all, rate));
  const against = `against ${basename(other).slice(0, 12)}, ${turns} turns of ${seconds} s, ${CONNECTIONS} connections, settling`;
  const rates = `${ours!.toFixed(0)} and ${theirs!.toFixed(0)} a second`;
  return [
    observed("payment.rate_settling", ours!, "requests/s", against),
    atLeast("payment.rate_ratio", ratioOf(usual, rate), "×", 1.7, rates),
    ...costRows(usual),
    atMost(
      "payment.p99_ratio",
      ratioOf(usual, ({ load }) => load.p99Ms),
      "×",
      0.7,
    ),
    atMost(
      "payment.lone_p50_ratio",
      ratioOf(lone, ({ load }) => load.p50Ms),
      "×",
      0.7,
      "1 connection",
    ),
    atLeast(
      "settlement.per_processor_second_ratio",
      ratioOf(settled, (perSecond) => perSecond),
      "×",
      1.5,
      `relayer, wallet and PostgreSQL, no load; ${settled.map((all) => median(all).toFixed(0)).join(" and ")}`,
    ),
    atLeast("payment.hot_vs_spread_settling", hot, "×", 0.95, "all payments to one receiver"),
  ];
}

/** Processor time of a payment until it is settled: the ratio, then each kind of process for both stacks. */
function costRows(usual: Both<Turn[]>): Result[] {
  const cost = ({ processor, load }: Turn) => sum([...processor.values()]) / load.total;
  const costOf = (kind: string) => (turn: Turn) => (turn.processor.get(kind) ?? 0) / turn.load.total;
  const [ours, theirs] = usual.map((all) => (midOf(all, cost) * 1e6).toFixed(0));
  const waits = usual.map((all) => midOf(all, ({ settled }) => settled.seconds).toFixed(1));
  const left = usual.map((all) => sum(all.map(({ settled }) => settled.left)));
  const note =
    `${ours} and ${theirs} µs, all processes, until all is settled ${waits.join(" and ")} s after the load` +
    (sum(left) > 0 ? `; LEFT UNSETTLED: ${left.join(" and ")}` : "");
  const kinds = [...new Set(usual.flat().flatMap(({ processor }) => [...processor.keys()]))].sort();
  return [
    atMost("payment.processor_ratio", ratioOf(usual, cost), "×", 0.6, note),
    ...kinds.flatMap((kind) => {
      const [current, other] = usual.map((all) => midOf(all, costOf(kind)) * 1e6);
      const name = kind.replaceAll(" ", "_");
      return [
        observed(`payment.processor.${name}`, current!, "µs", `the other stack ${other!.toFixed(0)} µs`),
        observed(`payment.processor_other.${name}`, other!, "µs"),
      ];
    }),
  ];
}

/** Alternates which stack goes first, so that neither has the better half of a slow minute. */
async function inTurns<T>(
  [current, other]: Stacks,
  turns: number,
  measure: (stack: RunningStack) => Promise<T>,
): Promise<Both<T[]>> {
  const results: Both<T[]> = [[], []];
  for (let turn = 0; turn < turns; turn += 1) {
    const order = [0, 1].map((offset) => (turn + offset) % 2);
    for (const index of order) results[index as 0 | 1].push(await alone([current, other][index]!, measure));
  }
  return results;
}

async function alone<T>(stack: RunningStack, measure: (stack: RunningStack) => Promise<T>): Promise<T> {
  stack.resume();
  try {
    await sleep(1_000);
    return await measure(stack);
  } finally {
    stack.pause();
  }
}

async function hotAgainstSpread(stack: RunningStack, turns: number, seconds: number): Promise<number> {
  const ratios: number[] = [];
  await alone(stack, async () => {
    for (let turn = 0; turn < turns; turn += 1) {
      const spread = await pay(stack, CONNECTIONS, seconds, (count) => Math.floor(Math.random() * count));
      const hot = await pay(stack, CONNECTIONS, seconds, () => 0);
      ratios.push(hot.perSecond / spread.perSecond);
    }
  });
  return median(ratios);
}

function ratioOf<T>([ours, theirs]: Both<T[]>, valueOf: (one: T) => number): number {
  return median(ours.map((one, index) => valueOf(one) / valueOf(theirs[index]!)));
}

function midOf<T>(all: T[], valueOf: (one: T) => number): number {
  return median(all.map(valueOf));
}

function sum(values: number[]): number {
  return values.reduce((total, each) => total + each, 0);
}
