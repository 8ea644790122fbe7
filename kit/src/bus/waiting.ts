import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../log";

const PATIENCE_MS = 60_000;
const PAUSE_MS = 500;

/** Rejects when the work takes longer. The work itself goes on, unheard. */
export async function within<T>(limitMs: number, problem: string, work: Promise<T>): Promise<T> {
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

export interface Patience {
  log: Log;
  signal: AbortSignal;
  /** Whether the same attempt may succeed later. */
  mayPass: (error: unknown) => boolean;
}

/** Processes of a system start in any order: what one needs of another may come a little later. Waits a minute for it. */
export async function untilThere<T>(
  what: string,
  attempt: () => Promise<T>,
  { log, signal, mayPass }: Patience,
): Promise<T> {
  const deadlineMs = Date.now() + PATIENCE_MS;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || !mayPass(error) || Date.now() > deadlineMs) throw error;
      if (tries === 1) log.info({ err: error }, `waiting to ${what}`);
    }
    await sleep(PAUSE_MS, undefined, { signal });
  }
}
