import { setTimeout as sleep } from "node:timers/promises";
import { closedLoop, type Measured } from "../../loop";
import { paymentOf } from "../sections";
import { type RunningStack } from "./stack";

const SETTLE_MS = 60_000;
const POLL_MS = 500;
const SETTLING_KINDS = ["chain-relayer", "wallet", "postgres"];

/** A stretch of payments, and their cost until the chain settled all of them. */
export interface Turn {
  load: Measured;
  /** Processor seconds by kind of process, from the start of the load until everything is settled. */
  processor: Map<string, number>;
  settled: Settled;
}

interface Settled {
  seconds: number;
  /** Entries that were still unsettled when the wait ended. */
  left: number;
}

/**
 * Processor time counts until the stack settled everything that the load made. A stack that leaves
 * a backlog would look cheaper otherwise. Rate and latency are those of the load alone.
 */
export async function payInTurn(stack: RunningStack, connections: number, seconds: number): Promise<Turn> {
  const before = stack.processorSeconds();
  const load = await pay(stack, connections, seconds, (count) => Math.floor(Math.random() * count));
  const settled = await untilSettled(stack);
  return { load, processor: usedSince(before, stack.processorSeconds()), settled };
}

/** Operations per processor second while only settlement runs: the relayer is stopped during the load. */
export async function settleInTurn(
  stack: RunningStack,
  connections: number,
  seconds: number,
): Promise<number> {
  stack.pause("chain-relayer");
  await pay(stack, connections, seconds, (count) => Math.floor(Math.random() * count));
  const [operations, before] = [await stack.settledOperations(), stack.processorSeconds()];
  stack.resume("chain-relayer");
  await untilSettled(stack);
  const used = usedSince(before, stack.processorSeconds());
  const processor = SETTLING_KINDS.reduce((total, kind) => total + (used.get(kind) ?? 0), 0);
  return ((await stack.settledOperations()) - operations) / processor;
}

export async function pay(
  stack: RunningStack,
  connections: number,
  seconds: number,
  receiverOf: (count: number) => number,
): Promise<Measured> {
  const { wallets } = stack;
  const http = stack.open(connections);
  const work = async (): Promise<void> => {
    const receiver = receiverOf(wallets.length);
    const payer = (receiver + 1 + Math.floor(Math.random() * (wallets.length - 1))) % wallets.length;
    const body = paymentOf(wallets[payer]!, wallets[receiver]!);
    const status = await http.send("POST", "/api/wallets/payment", body);
    if (status !== 201) throw new Error(`the payment was answered with ${status}`);
  };
  const measured = await closedLoop({ callers: connections, seconds, work });
  http.close();
  stack.notePosted(measured.total);
  return measured;
}

/** All entries are on the chain, and the newest payment reads CONFIRMED over REST. */
async function untilSettled(stack: RunningStack): Promise<Settled> {
  const startMs = performance.now();
  const newest = await stack.pay();
  for (;;) {
    const left = await stack.unsettledEntries();
    const seconds = (performance.now() - startMs) / 1_000;
    if (left <= 0 && (await stack.isConfirmed(newest))) return { seconds, left: 0 };
    if (seconds * 1_000 > SETTLE_MS) return { seconds, left };
    await sleep(POLL_MS);
  }
}

function usedSince(before: Map<string, number>, after: Map<string, number>): Map<string, number> {
  return new Map([...after].map(([kind, seconds]) => [kind, seconds - (before.get(kind) ?? 0)]));
}
