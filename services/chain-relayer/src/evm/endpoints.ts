import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type Log } from "@wonrail/kit/log";
import { type Counter, type Gauge } from "@wonrail/kit/metrics";
import { type Rpc, RpcMissingBlock, RpcRefusal, RpcTimeout, RpcUnanswered } from "./rpc";

export type Ask<T> = (rpc: Rpc) => Promise<T>;

export interface Answer<T> {
  /** The endpoint's name. */
  name: string;
  value: T;
}

/**
 * Several endpoints as one source. A quorum is more than half of all configured endpoints: two of
 * two, two of three. A false or silent endpoint does not count for others.
 */
export interface Endpoints {
  /** Stops the start when an endpoint is on another chain. A silent one may come later. */
  checkChain(): Promise<void>;
  /** All answers, at least one: for estimates that decide no money. */
  all<T>(ask: Ask<T>): Promise<Answer<T>[]>;
  /** The answers of at least a quorum. Throws if fewer endpoints answer. */
  quorum<T>(ask: Ask<T>): Promise<Answer<T>[]>;
  /** Returns the quorum's answer. Throws if there is none. */
  agreed<T>(what: string, ask: Ask<T>): Promise<T>;
  /** The highest number that a quorum has reached, where honest endpoints may differ. */
  reached(ask: Ask<bigint>): Promise<bigint>;
  /**
   * Sends to each endpoint once; one acceptance suffices. Throws the only refusal, or an
   * AggregateError of all.
   */
  tell<T>(ask: Ask<T>): Promise<T>;
  /** Counts and logs the endpoints that were outvoted. */
  report(what: string, names: string[]): void;
  /** How many endpoints are a quorum. */
  readonly quorumSize: number;
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

/** Number of attempts before the dependent work waits. */
const ROUNDS = 3;
const PAUSE_MS = 50;
/** Rest of a silent endpoint, doubled after each further silence. */
const FIRST_REST_MS = 10_000;
const LONGEST_REST_MS = 160_000;

interface Rest {
  lengthMs: number;
  untilMs: number;
}

/** The endpoint is on another chain. */
export class WrongChain extends RpcUnanswered {}

/** Checks the answer to eth_chainId of the same request. */
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
  const quorumSize = (rpcs.length >> 1) + 1;
  /** Endpoints without an answer since their rest. */
  const rests = new Map<Rpc, Rest>();
  const pinned = new Set<Rpc>();

  function isResting(rpc: Rpc): boolean {
    return (rests.get(rpc)?.untilMs ?? 0) > monotonicMs();
  }

  /**
   * Returns endpoints that are not resting, and resting ones only when there are not enough others.
   */
  function awake(needed: number): Rpc[] {
    const ready = rpcs.filter((rpc) => !isResting(rpc));
    return ready.length >= needed ? ready : rpcs;
  }

  function rest(rpc: Rpc, { message }: RpcUnanswered): void {
    pinned.delete(rpc);
    up.set({ provider: rpc.name }, 0);
    // Concurrent questions see the same silence, which counts once.
    if (rpcs.length === 1 || isResting(rpc)) return;
    const lengthMs = Math.min((rests.get(rpc)?.lengthMs ?? FIRST_REST_MS / 2) * 2, LONGEST_REST_MS);
    rests.set(rpc, { lengthMs, untilMs: monotonicMs() + lengthMs });
    log.warn(
      { provider: rpc.name, reason: message, restMs: lengthMs },
      "done without this endpoint for a while",
    );
  }

  /**
   * Checks the chain id first, and again after an absence: the name may lead to another node now.
   */
  async function pin(rpc: Rpc): Promise<void> {
    if (pinned.has(rpc)) return;
    const found = BigInt(await rpc.call<string>("eth_chainId", []));
    if (found !== chainId) throw new WrongChain(`${rpc.name} is on chain ${found}, not ${chainId}`);
    pinned.add(rpc);
  }

  async function askOne<T>(rpc: Rpc, ask: Ask<T>): Promise<T> {
    const before = rests.get(rpc);
    // An answer to a question of before its rest does not end the rest.
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
      if (error instanceof RpcUnanswered && !(error instanceof RpcMissingBlock)) rest(rpc, error);
      else answered();
      throw error;
    }
  }

  /** Does not retry a timeout while there are other endpoints. */
  async function patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (let round = 1; ; round += 1) {
      try {
        return await ask();
      } catch (error) {
        const isOver = round === ROUNDS || (error instanceof RpcTimeout && rpcs.length > 1);
        if (!(error instanceof RpcUnanswered) || isOver) throw error;
      }
      await sleep(PAUSE_MS * round);
    }
  }

  function report(what: string, names: string[]): void {
    for (const name of names) disagreements.inc({ provider: name });
    if (names.length > 0) log.error({ what, providers: names }, "endpoints disagree about the chain");
  }

  async function answersOf<T>(ask: Ask<T>, needed: number): Promise<Answer<T>[]> {
    const asked = awake(needed);
    const answers = await Promise.allSettled(asked.map((rpc) => askOne(rpc, ask)));
    const given = answers.flatMap((answer, index) =>
      answer.status === "fulfilled" ? [{ name: asked[index]!.name, value: answer.value }] : [],
    );
    if (given.length < needed) throw failureOf(answers, { answered: given.length, needed });
    return given;
  }

  async function quorum<T>(ask: Ask<T>): Promise<Answer<T>[]> {
    return answersOf(ask, quorumSize);
  }

  return {
    all: (ask) => answersOf(ask, 1),
    quorum,
    quorumSize,
    report,
    async checkChain() {
      const checks = await Promise.allSettled(rpcs.map((rpc) => patiently(() => pin(rpc))));
      checks.forEach(({ status }, index) =>
        up.set({ provider: rpcs[index]!.name }, status === "fulfilled" ? 1 : 0),
      );
      const reasons = checks.flatMap((check) => (check.status === "rejected" ? [check.reason as Error] : []));
      const wrong = reasons.find((reason) => reason instanceof WrongChain);
      if (wrong) throw new Error(wrong.message);
      if (reasons.length === rpcs.length) throw failureOf(checks, { answered: 0, needed: 1 });
    },
    async agreed(what, ask) {
      const given = await quorum(ask);
      const most = largestSide(given);
      report(
        what,
        given.filter((one) => !most.includes(one)).map(({ name }) => name),
      );
      if (most.length < quorumSize) throw new RpcUnanswered("endpoints disagree about the chain");
      return most[0]!.value;
    },
    async reached(ask) {
      return highestReachedBy(
        (await quorum(ask)).map(({ value }) => value),
        quorumSize,
      );
    },
    async tell(ask) {
      try {
        return await Promise.any(rpcs.map(ask));
      } catch (error) {
        const reasons = (error as AggregateError).errors as Error[];
        if (reasons.length === 1) throw reasons[0]!;
        const message = reasons.map((reason) => reason.message).join("; ");
        throw new AggregateError(reasons, message, { cause: error });
      }
    },
  };
}

/** The highest number that this many values have reached. */
export function highestReachedBy(values: bigint[], count: number): bigint {
  const falling = [...values].sort((one, other) => Number(other - one));
  return falling[count - 1]!;
}

/** The highest number that more than half of them have reached. */
export function medianOf(values: bigint[]): bigint {
  return highestReachedBy(values, (values.length >> 1) + 1);
}

/** The value that at least this many have; null if there is none. */
export function findValueSharedBy<T>(values: T[], count: number): T | null {
  const most = largestSide(values.map((value) => ({ value })));
  return most.length >= count ? most[0]!.value : null;
}

function largestSide<A extends { value: unknown }>(given: A[]): A[] {
  const sides = given.map(({ value }) => given.filter((other) => isDeepStrictEqual(other.value, value)));
  return sides.reduce((largest, side) => (side.length > largest.length ? side : largest), []);
}

/** A refusal counts as an answer only if a quorum refuses; otherwise the question is unanswered. */
function failureOf(
  results: PromiseSettledResult<unknown>[],
  { answered, needed }: { answered: number; needed: number },
): Error {
  const reasons = results.flatMap((result) => (result.status === "rejected" ? [result.reason as Error] : []));
  const refusals = reasons.filter((reason) => reason instanceof RpcRefusal);
  if (refusals.length >= needed) return refusals[0]!;
  const telling = reasons.find((reason) => !(reason instanceof RpcMissingBlock)) ?? reasons[0];
  if (!telling) return new RpcUnanswered("there is no endpoint");
  if (results.length === 1 || telling instanceof RpcMissingBlock) return telling;
  return new RpcUnanswered(`${answered} of the ${needed} needed endpoints answered: ${telling.message}`, {
    cause: telling,
  });
}
