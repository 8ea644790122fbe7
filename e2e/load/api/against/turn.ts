import { setTimeout as sleep } from "node:timers/promises";
import { closedLoop, type Measured } from "../../loop";
import { paymentOf } from "../sections";
import { type RunningStack } from "./stack";

const SETTLE_MS = 30_000;
const POLL_MS = 500;
/** A stack that continues first renews its leases and its places in Kafka's groups. */
const RECOVERY_MS = 3_000;
const WARM_UP_SECONDS = 3;
const SETTLING_KINDS = ["chain-relayer", "wallet", "postgres"];

/** A stretch of payments. */
export interface Turn {
  load: Measured;
  /** Processor seconds by kind of process. */
  processor: Map<string, number>;
}

/** A stretch of settlement without payments. */
export interface SettledTurn {
  operations: number;
  processor: Map<string, number>;
}

/** Settlement goes on during the load. */
export async function payInTurn(stack: RunningStack, connections: number, seconds: number): Promise<Turn> {
  await sleep(RECOVERY_MS);
  return payWarm(stack, connections, seconds);
}

/** The relayer is stopped during the load, and settles afterwards while nothing else happens. */
export async function payThenSettle(
  stack: RunningStack,
  connections: number,
  seconds: number,
): Promise<{ paid: Turn; settled: SettledTurn }> {
  const paid = await payUnsettled(stack, connections, seconds);
  stack.resume("chain-relayer");
  return { paid, settled: await settle(stack, paid.load.total) };
}

/** Leaves the relayer stopped. */
export async function payUnsettled(stack: RunningStack, connections: number, seconds: number): Promise<Turn> {
  await sleep(RECOVERY_MS);
  stack.pause("chain-relayer");
  return payWarm(stack, connections, seconds);
}

async function payWarm(stack: RunningStack, connections: number, seconds: number): Promise<Turn> {
  await pay(stack, connections, WARM_UP_SECONDS, randomIndex);
  const before = stack.processorSeconds();
  const load = await pay(stack, connections, seconds, randomIndex);
  return { load, processor: usedSince(before, stack.processorSeconds()) };
}

/** Operations per processor second of the processes that settle. */
export function settledPerSecond({ operations, processor }: SettledTurn): number {
  return operations / SETTLING_KINDS.reduce((total, kind) => total + (processor.get(kind) ?? 0), 0);
}

async function settle(stack: RunningStack, most: number): Promise<SettledTurn> {
  const [first, before, startMs] = [
    await stack.settledOperations(),
    stack.processorSeconds(),
    performance.now(),
  ];
  for (;;) {
    await sleep(POLL_MS);
    const operations = (await stack.settledOperations()) - first;
    if (operations < most && performance.now() - startMs < SETTLE_MS) continue;
    return { operations, processor: usedSince(before, stack.processorSeconds()) };
  }
}

function randomIndex(count: number): number {
  return Math.floor(Math.random() * count);
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
  return measured;
}

function usedSince(before: Map<string, number>, after: Map<string, number>): Map<string, number> {
  return new Map([...after].map(([kind, seconds]) => [kind, seconds - (before.get(kind) ?? 0)]));
}
