import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { checkOut } from "../../../upgrade/release";
import { ROOT } from "../../../ops/repository";
import { median } from "../../compare";
import { atLeast, atMost, type Result, observed } from "../../report";
import { type Bus, type RunningStack, startStackOf } from "./stack";
import {
  pay,
  payInTurn,
  payThenSettle,
  payUnsettled,
  type SettledTurn,
  settledPerSecond,
  type Turn,
} from "./turn";

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
const MANY_CONNECTIONS = 256;

/**
 * Runs this checkout and another commit as two complete stacks, with settlement. The stacks are
 * measured in turns, and a signal stops the idle one, so that it uses no processor time.
 */
export async function measureAgainst(options: AgainstOptions): Promise<Result[]> {
  const { other, bus, wallets } = options;
  return withPlace(async (place) => {
    const isFolder = existsSync(join(other, "package.json"));
    const folder = isFolder ? resolve(other) : await checkOut(other, place);
    const [current, another] = [
      { folder: ROOT, bus },
      { folder, bus },
    ];
    return withStacks(place, [current, another], wallets, (stacks) => compareStacks(stacks, options));
  });
}

/** Runs this checkout with Kafka and without, in turns. The relayer is stopped in both. */
export async function compareBuses(turns: number, seconds: number, wallets: number): Promise<Result[]> {
  const [kafka, feed] = [
    { folder: ROOT, bus: "kafka" },
    { folder: ROOT, bus: "none" },
  ] as const;
  return withPlace((place) =>
    withStacks(place, [kafka, feed], wallets, async (stacks) => {
      const both = await inTurns("Kafka and feed", stacks, turns, (stack) =>
        payUnsettled(stack, MANY_CONNECTIONS, seconds),
      );
      const rate = ({ load }: Turn) => load.perSecond;
      const [withKafka, alone] = both.map((all) => midOf(all, rate).toFixed(0));
      const note = `${withKafka} and ${alone} a second, ${MANY_CONNECTIONS} connections, settlement paused`;
      return [atLeast("payment.kafka_vs_feed", ratioOf(both, rate), "×", 0.9, note)];
    }),
  );
}

async function withPlace<T>(work: (place: string) => Promise<T>): Promise<T> {
  const place = mkdtempSync(join(tmpdir(), "wonrail-against-"));
  chmodSync(place, 0o711);
  try {
    return await work(place);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Each stack is stopped by a signal, until its turn comes. */
async function withStacks<T>(
  place: string,
  wanted: Both<{ folder: string; bus: Bus }>,
  wallets: number,
  work: (stacks: Stacks) => Promise<T>,
): Promise<T> {
  const stacks: RunningStack[] = [];
  try {
    for (const [index, { folder, bus }] of wanted.entries()) {
      const stack = await startStackOf(folder, join(place, `home${index}`), bus, wallets);
      stack.pause();
      stacks.push(stack);
    }
    return await work(stacks as Stacks);
  } finally {
    for (const stack of stacks) await stack.stop();
  }
}

async function compareStacks(stacks: Stacks, { turns, seconds, other }: AgainstOptions): Promise<Result[]> {
  const few = Math.ceil(turns / 2);
  const payWith = (connections: number) => (stack: RunningStack) => payInTurn(stack, connections, seconds);
  const usual = await inTurns("settling", stacks, turns, payWith(CONNECTIONS));
  const lone = await inTurns("one connection", stacks, few, payWith(1));
  const apart = await inTurns("settlement apart", stacks, few, (stack) =>
    payThenSettle(stack, CONNECTIONS, seconds),
  );
  const settled = apart.map((all) => all.map((one) => settledPerSecond(one.settled)));
  const hot = await hotAgainstSpread(stacks[0], few, seconds);
  const rate = ({ load }: Turn) => load.perSecond;
  const [ours, theirs] = usual.map((all) => midOf(all, rate));
  const against = `against ${basename(other).slice(0, 12)}, ${turns} turns of ${seconds} s, ${CONNECTIONS} connections, settling`;
  const rates = `${ours!.toFixed(0)} and ${theirs!.toFixed(0)} a second`;
  return [
    observed("payment.rate_settling", ours!, "requests/s", against),
    atLeast("payment.rate_ratio", ratioOf(usual, rate), "×", 1.7, rates),
    ...costRows(apart),
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
      ratioOf(settled as Both<number[]>, (perSecond) => perSecond),
      "×",
      1.5,
      `relayer, wallet and PostgreSQL, no load; ${settled.map((all) => median(all).toFixed(0)).join(" and ")}`,
    ),
    atLeast("payment.hot_vs_spread_settling", hot, "×", 0.95, "all payments to one receiver"),
  ];
}

type Apart = { paid: Turn; settled: SettledTurn };

/** Processor time of a payment and of its settlement, which are measured one after the other. */
function costRows(apart: Both<Apart[]>): Result[] {
  const costOf =
    (isCounted: (kind: string) => boolean) =>
    ({ paid, settled }: Apart): number =>
      used(paid.processor, isCounted) / paid.load.total +
      used(settled.processor, isCounted) / settled.operations;
  const all = costOf(() => true);
  const [ours, theirs] = apart.map((turns) => (midOf(turns, all) * 1e6).toFixed(0));
  const note = `${ours} and ${theirs} µs, all processes, settlement included`;
  const processors = apart.flat().flatMap(({ paid, settled }) => [paid.processor, settled.processor]);
  const kinds = [...new Set(processors.flatMap((processor) => [...processor.keys()]))].sort();
  return [
    atMost("payment.processor_ratio", ratioOf(apart, all), "×", 0.6, note),
    ...kinds.flatMap((kind) => {
      const [current, another] = apart.map(
        (turns) =>
          midOf(
            turns,
            costOf((one) => one === kind),
          ) * 1e6,
      );
      const name = kind.replaceAll(" ", "_");
      return [
        observed(`payment.processor.${name}`, current!, "µs", `the other stack ${another!.toFixed(0)} µs`),
        observed(`payment.processor_other.${name}`, another!, "µs"),
      ];
    }),
  ];
}

function used(processor: Map<string, number>, isCounted: (kind: string) => boolean): number {
  return [...processor].reduce((total, [kind, seconds]) => total + (isCounted(kind) ? seconds : 0), 0);
}

/** Alternates which stack goes first, so that neither has the better half of a slow minute. */
async function inTurns<T>(
  name: string,
  [current, other]: Stacks,
  turns: number,
  measure: (stack: RunningStack) => Promise<T>,
): Promise<Both<T[]>> {
  const results: Both<T[]> = [[], []];
  for (let turn = 0; turn < turns; turn += 1) {
    process.stdout.write(`${name}: turn ${turn + 1} of ${turns}\n`);
    const order = [0, 1].map((offset) => (turn + offset) % 2);
    for (const index of order) results[index as 0 | 1].push(await alone([current, other][index]!, measure));
  }
  return results;
}

async function alone<T>(stack: RunningStack, measure: (stack: RunningStack) => Promise<T>): Promise<T> {
  stack.resume();
  try {
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
