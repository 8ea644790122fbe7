export interface NewestFirstQueueOptions {
  maxRunning: number;
  /** When more wait, the oldest is refused. */
  maxWaiting: number;
  maxWaitMs: number;
}

export type NewestFirstQueue = <T>(work: () => Promise<T>, refusal: Error) => Promise<T>;

/**
 * Runs few tasks at a time and starts the newest first. Under a flood a first-in-first-out queue
 * serves only callers that have given up.
 */
export function createNewestFirstQueue({
  maxRunning,
  maxWaiting,
  maxWaitMs,
}: NewestFirstQueueOptions): NewestFirstQueue {
  let running = 0;
  const waiting: { start: () => void; refuse: () => void }[] = [];

  function turn(refusal: Error): Promise<void> {
    if (waiting.length >= maxWaiting) waiting.shift()!.refuse();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(entry), 1);
        reject(refusal);
      }, maxWaitMs);
      const settle = (outcome: () => void) => () => {
        clearTimeout(timer);
        outcome();
      };
      const entry = { start: settle(resolve), refuse: settle(() => reject(refusal)) };
      waiting.push(entry);
    });
  }

  return async (work, refusal) => {
    if (running < maxRunning) running += 1;
    else await turn(refusal);
    try {
      return await work();
    } finally {
      // The place passes to the newest that waits.
      const next = waiting.pop();
      if (next) next.start();
      else running -= 1;
    }
  };
}
