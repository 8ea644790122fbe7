import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { checkOut } from "../../../upgrade/release";
import { ROOT } from "../../../ops/repository";
import { median } from "../../compare";
import { closedLoop, type Measured } from "../../loop";
import { atLeast, atMost, type Result, told } from "../../report";
import { paymentOf } from "../sections";
import { type Bus, type RunningStack, startStackOf } from "./stack";

export interface AgainstOptions {
  /** A commit, or the folder of another checkout. */
  other: string;
  turns: number;
  seconds: number;
  bus: Bus;
  wallets: number;
}

interface Turn {
  load: Measured;
  processorSeconds: number;
}

type Stacks = [current: RunningStack, other: RunningStack];

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
  await inTurns(stacks, 1, (stack) => payInTurn(stack, CONNECTIONS, seconds));
  const [ours, theirs] = await inTurns(stacks, turns, (stack) => payInTurn(stack, CONNECTIONS, seconds));
  const lone = await inTurns(stacks, Math.ceil(turns / 2), (stack) => payInTurn(stack, 1, seconds));
  const settled = await inTurns(stacks, Math.ceil(turns / 2), (stack) => settleInTurn(stack, seconds));
  const hot = await hotAgainstSpread(stacks[0], turns, seconds);
  const rate = ({ load }: Turn) => load.perSecond;
  const cost = ({ load, processorSeconds }: Turn) => processorSeconds / load.total;
  const against = `against ${basename(other).slice(0, 12)}, ${turns} turns of ${seconds} s, ${CONNECTIONS} connections, settling`;
  const rates = `${midOf(ours, rate).toFixed(0)} and ${midOf(theirs, rate).toFixed(0)} a second`;
  return [
    told("payment.rate_settling", midOf(ours, rate), "requests/s", against),
    atLeast("payment.rate_ratio", ratioOf(ours, theirs, rate), "×", 1.7, rates),
    atMost("payment.processor_ratio", ratioOf(ours, theirs, cost), "×", 0.6, costNote(ours, theirs, cost)),
    atMost(
      "payment.p99_ratio",
      ratioOf(ours, theirs, ({ load }) => load.p99Ms),
      "×",
      0.7,
    ),
    atMost(
      "payment.lone_p50_ratio",
      ratioOf(...lone, ({ load }) => load.p50Ms),
      "×",
      0.7,
      "1 connection",
    ),
    atLeast(
      "settlement.per_processor_second_ratio",
      ratioOf(...settled, (perSecond) => perSecond),
      "×",
      1.5,
      "relayer, wallet and PostgreSQL, no load",
    ),
    atLeast("payment.hot_vs_spread_settling", hot, "×", 0.95, "all payments to one receiver"),
  ];
}

/** Alternates which stack goes first, so that neither has the better half of a slow minute. */
async function inTurns<T>(
  [current, other]: Stacks,
  turns: number,
  measure: (stack: RunningStack) => Promise<T>,
): Promise<[T[], T[]]> {
  const results: [T[], T[]] = [[], []];
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

async function payInTurn(stack: RunningStack, connections: number, seconds: number): Promise<Turn> {
  const before = sum(stack.processorSeconds());
  const load = await pay(stack, connections, seconds, (count) => Math.floor(Math.random() * count));
  return { load, processorSeconds: sum(stack.processorSeconds()) - before };
}

/** Settled operations per processor second while only settlement runs. */
async function settleInTurn(stack: RunningStack, seconds: number): Promise<number> {
  const used = () => {
    const all = stack.processorSeconds();
    return ["chain-relayer", "wallet", "postgres"].reduce((total, name) => total + (all.get(name) ?? 0), 0);
  };
  const [operations, processor] = [await stack.settledOperations(), used()];
  await sleep(seconds * 1_000);
  return ((await stack.settledOperations()) - operations) / (used() - processor);
}

async function hotAgainstSpread(stack: RunningStack, turns: number, seconds: number): Promise<number> {
  const ratios: number[] = [];
  await alone(stack, async () => {
    for (let turn = 0; turn < Math.ceil(turns / 2); turn += 1) {
      const spread = await pay(stack, CONNECTIONS, seconds, (count) => Math.floor(Math.random() * count));
      const hot = await pay(stack, CONNECTIONS, seconds, () => 0);
      ratios.push(hot.perSecond / spread.perSecond);
    }
  });
  return median(ratios);
}

async function pay(
  { wallets, open }: RunningStack,
  connections: number,
  seconds: number,
  receiverOf: (count: number) => number,
): Promise<Measured> {
  const http = open(connections);
  const work = async (): Promise<void> => {
    const receiver = receiverOf(wallets.length);
    const payer = (receiver + 1 + Math.floor(Math.random() * (wallets.length - 1))) % wallets.length;
    const body = paymentOf(wallets[payer]!, wallets[receiver]!);
    const status = await http.send("POST", "/api/wallets/payment", body);
    if (status !== 201) throw new Error(`the payment was answered with ${status}`);
  };
  const measured = await closedLoop({ callers: connections, seconds, work });
  http.close();
  return measured;
}

function ratioOf<T>(ours: T[], theirs: T[], valueOf: (one: T) => number): number {
  return median(ours.map((one, index) => valueOf(one) / valueOf(theirs[index]!)));
}

function midOf<T>(all: T[], valueOf: (one: T) => number): number {
  return median(all.map(valueOf));
}

function costNote(ours: Turn[], theirs: Turn[], cost: (turn: Turn) => number): string {
  return `${(midOf(ours, cost) * 1e6).toFixed(0)} and ${(midOf(theirs, cost) * 1e6).toFixed(0)} µs, all processes`;
}

function sum(seconds: Map<string, number>): number {
  return [...seconds.values()].reduce((total, each) => total + each, 0);
}
