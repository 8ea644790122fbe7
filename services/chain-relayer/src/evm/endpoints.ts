import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type Log } from "@wonrail/kit/log";
import { type Counter, type Gauge } from "@wonrail/kit/metrics";
import { type Rpc, RpcBehind, RpcSilent, RpcUnclear } from "./rpc";

export type Ask<T> = (rpc: Rpc) => Promise<T>;

export interface Answer<T> {
  /** Of the endpoint. */
  name: string;
  value: T;
}

/** Several endpoints as one source: more than half of those that answer decide, so one that lies, lags or is silent is done without and told of. */
export interface Endpoints {
  /** Stops the start when an endpoint is on another chain. One that is silent may come later. */
  checkChain(): Promise<void>;
  /** What each says that answers: at least one. */
  all<T>(ask: Ask<T>): Promise<Answer<T>[]>;
  /** What more than half say. Where there is no such answer nobody is believed, and the work stops until there is. */
  agreed<T>(what: string, ask: Ask<T>): Promise<T>;
  /** Of numbers that honest endpoints may see differently: what more than half have reached. */
  middle(ask: Ask<bigint>): Promise<bigint>;
  /** Asks each once; the first that takes it is enough. Throws what the only one says, or else an AggregateError of what all say. */
  tell<T>(ask: Ask<T>): Promise<T>;
  /** Makes known whose word did not count. */
  report(what: string, names: string[]): void;
}

export interface EndpointsOptions {
  rpcs: Rpc[];
  chainId: bigint;
  log: Log;
  disagreements: Counter<"provider">;
  up: Gauge<"provider">;
  /** Milliseconds of a clock that never jumps. */
  monotonicMs: () => number;
}

/** How often a question is asked before the work that needs the answer is put off. */
const ROUNDS = 3;
const PAUSE_MS = 50;
/** One that did not answer is not waited for again so soon: every question would take as long as its silence. Each time it is silent again, twice as long. */
const FIRST_REST_MS = 10_000;
const LONGEST_REST_MS = 160_000;

interface Rest {
  lengthMs: number;
  untilMs: number;
}

/** On another chain than it should be. */
export class WrongChain extends RpcUnclear {}

/** Of what it has answered to eth_chainId in the same request. */
export function assertChain({ name }: Rpc, id: unknown, chainId: bigint): void {
  if (BigInt(id as string) !== chainId) throw new WrongChain(`${name} is on another chain`);
}

export function createEndpoints({
  rpcs,
  chainId,
  log,
  disagreements,
  up,
  monotonicMs,
}: EndpointsOptions): Endpoints {
  /** Of those that have not answered since. */
  const rests = new Map<Rpc, Rest>();
  const pinned = new Set<Rpc>();

  function isResting(rpc: Rpc): boolean {
    return (rests.get(rpc)?.untilMs ?? 0) > monotonicMs();
  }

  function awake(): Rpc[] {
    const ready = rpcs.filter((rpc) => !isResting(rpc));
    return ready.length > 0 ? ready : rpcs;
  }

  function rest(rpc: Rpc, { message }: RpcUnclear): void {
    pinned.delete(rpc);
    up.set({ provider: rpc.name }, 0);
    // Of questions that were asked at once each finds it silent, and that is one silence.
    if (rpcs.length === 1 || isResting(rpc)) return;
    const lengthMs = Math.min((rests.get(rpc)?.lengthMs ?? FIRST_REST_MS / 2) * 2, LONGEST_REST_MS);
    rests.set(rpc, { lengthMs, untilMs: monotonicMs() + lengthMs });
    log.warn(
      { provider: rpc.name, reason: message, restMs: lengthMs },
      "done without this endpoint for a while",
    );
  }

  /** Asked before anything else, and again of one that was away: behind a name there may be another node now. */
  async function pin(rpc: Rpc): Promise<void> {
    if (pinned.has(rpc)) return;
    const found = BigInt(await rpc.call<string>("eth_chainId", []));
    if (found !== chainId) throw new WrongChain(`${rpc.name} is on chain ${found}, not ${chainId}`);
    pinned.add(rpc);
  }

  async function askOne<T>(rpc: Rpc, ask: Ask<T>): Promise<T> {
    const before = rests.get(rpc);
    // An answer to what was asked before its rest began is no sign that it is back.
    const answered = () => {
      if (rests.get(rpc) !== before) return;
      rests.delete(rpc);
      up.set({ provider: rpc.name }, 1);
    };
    try {
      const value = await patiently(async () => {
        await pin(rpc);
        return ask(rpc);
      });
      answered();
      return value;
    } catch (error) {
      if (error instanceof WrongChain) report("chain id", [rpc.name]);
      if (error instanceof RpcUnclear && !(error instanceof RpcBehind)) rest(rpc, error);
      else answered();
      throw error;
    }
  }

  /** Silence has taken its time already: while there are others nobody waits for it twice. */
  async function patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (let round = 1; ; round += 1) {
      try {
        return await ask();
      } catch (error) {
        const isOver = round === ROUNDS || (error instanceof RpcSilent && rpcs.length > 1);
        if (!(error instanceof RpcUnclear) || isOver) throw error;
      }
      await sleep(PAUSE_MS * round);
    }
  }

  function report(what: string, names: string[]): void {
    for (const name of names) disagreements.inc({ provider: name });
    if (names.length > 0) log.error({ what, providers: names }, "endpoints disagree about the chain");
  }

  async function all<T>(ask: Ask<T>): Promise<Answer<T>[]> {
    const asked = awake();
    const answers = await Promise.allSettled(asked.map((rpc) => askOne(rpc, ask)));
    const given = answers.flatMap((answer, index) =>
      answer.status === "fulfilled" ? [{ name: asked[index]!.name, value: answer.value }] : [],
    );
    if (given.length === 0) throw reasonOf(answers);
    return given;
  }

  return {
    all,
    report,
    async checkChain() {
      const checks = await Promise.allSettled(rpcs.map((rpc) => patiently(() => pin(rpc))));
      checks.forEach(({ status }, index) =>
        up.set({ provider: rpcs[index]!.name }, status === "fulfilled" ? 1 : 0),
      );
      const reasons = checks.flatMap((check) => (check.status === "rejected" ? [check.reason as Error] : []));
      const wrong = reasons.find((reason) => reason instanceof WrongChain);
      if (wrong) throw new Error(wrong.message);
      if (reasons.length === rpcs.length) throw reasonOf(checks);
    },
    async agreed(what, ask) {
      const given = await all(ask);
      const most = largestSide(given);
      report(
        what,
        given.filter((one) => !most.includes(one)).map(({ name }) => name),
      );
      if (most.length * 2 <= given.length) throw new RpcUnclear("endpoints disagree about the chain");
      return most[0]!.value;
    },
    async middle(ask) {
      return middleOf((await all(ask)).map(({ value }) => value));
    },
    async tell(ask) {
      const results = await Promise.allSettled(awake().map(ask));
      const taken = results.find((result) => result.status === "fulfilled");
      if (taken) return taken.value;
      const reasons = results.flatMap((result) =>
        result.status === "rejected" ? [result.reason as Error] : [],
      );
      if (reasons.length === 1) throw reasons[0]!;
      throw new AggregateError(reasons, reasons.map(({ message }) => message).join("; "));
    },
  };
}

/** The highest number that more than half have reached: one alone can neither push it up nor, beside two others, hold it down. */
export function middleOf(values: bigint[]): bigint {
  const falling = [...values].sort((one, other) => Number(other - one));
  return falling[falling.length >> 1]!;
}

/** What more than half of them are; null where there is no such value. */
export function mostOf<T>(values: T[]): T | null {
  const most = largestSide(values.map((value) => ({ value })));
  return most.length * 2 > values.length ? most[0]!.value : null;
}

function largestSide<A extends { value: unknown }>(given: A[]): A[] {
  const sides = given.map(({ value }) => given.filter((other) => isDeepStrictEqual(other.value, value)));
  return sides.reduce((largest, side) => (side.length > largest.length ? side : largest), []);
}

/** That one stands still says nothing of what the others could not do. */
function reasonOf(results: PromiseSettledResult<unknown>[]): unknown {
  const reasons = results.flatMap((result) => (result.status === "rejected" ? [result.reason as Error] : []));
  const telling = reasons.find((reason) => !(reason instanceof RpcBehind));
  return telling ?? reasons[0] ?? new RpcUnclear("there is no endpoint");
}
