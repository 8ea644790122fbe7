import { performance } from "node:perf_hooks";

export interface Measured {
  /**
   * Requests within the measured time; and all answered ones, including the warm-up and the last
   * ones.
   */
  count: number;
  total: number;
  seconds: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  failed: number;
}

export interface LoopOptions {
  /** Number of callers that wait at the same time. */
  callers: number;
  seconds: number;
  /** Not counted. */
  warmUpSeconds?: number;
  work: (caller: number) => Promise<void>;
}

/** A closed loop: each caller sends its next request after an answer. */
export async function closedLoop({
  callers,
  seconds,
  warmUpSeconds = 0.5,
  work,
}: LoopOptions): Promise<Measured> {
  const startMs = performance.now() + warmUpSeconds * 1000;
  const endMs = startMs + seconds * 1000;
  const latencies: number[] = [];
  let failed = 0;
  let total = 0;
  const caller = async (number: number): Promise<void> => {
    for (let sentMs = performance.now(); sentMs < endMs;) {
      let ok = true;
      await work(number).catch(() => (ok = false));
      const nowMs = performance.now();
      if (ok) total += 1;
      if (sentMs >= startMs && nowMs <= endMs) {
        if (ok) latencies.push(nowMs - sentMs);
        else failed += 1;
      }
      sentMs = nowMs;
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, number) => caller(number)));
  return { ...summary(latencies, seconds), total, failed };
}

/** Does the work for each number below `count`, with limited concurrency. */
export async function runConcurrently(
  callers: number,
  count: number,
  work: (number: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const caller = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

function summary(latencies: number[], seconds: number): Omit<Measured, "total" | "failed"> {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    count: sorted.length,
    seconds,
    perSecond: sorted.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}
