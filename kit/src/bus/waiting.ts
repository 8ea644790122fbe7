import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../log";

const PATIENCE_MS = 60_000;
const PAUSE_MS = 500;

/** Rejects on timeout. The work continues, and its result is ignored. */
export async function withTimeout<T>(limitMs: number, problem: string, work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const tooLate = async (): Promise<never> => {
    await sleep(limitMs, undefined, { signal: timer.signal });
    throw new Error(`${problem} within ${limitMs} ms`);
  };
  try {
    return await Promise.race([work, tooLate()]);
  } finally {
    timer.abort();
    work.catch(() => undefined);
  }
}

/** Rejects on abort. The work continues, and its result is ignored. */
export async function rejectOnAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => (stop = () => reject(signal.reason as Error)));
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
    work.catch(() => undefined);
  }
}

export interface RetryOptions {
  log: Log;
  /** Ends the wait at once, also during an attempt. */
  signal: AbortSignal;
  /** True when a retry may succeed. */
  isTransient: (error: unknown) => boolean;
}

/** Retries for a minute, because the processes of a system start in any order. */
export async function retryUntilReady<T>(
  what: string,
  attempt: () => Promise<T>,
  { log, signal, isTransient }: RetryOptions,
): Promise<T> {
  const untilMs = performance.now() + PATIENCE_MS;
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    try {
      return await rejectOnAbort(signal, attempt());
    } catch (error) {
      if (signal.aborted || !isTransient(error) || performance.now() > untilMs) throw error;
      if (tries === 1) log.info({ err: error }, `waiting to ${what}`);
    }
    await sleep(PAUSE_MS, undefined, { signal });
  }
}
