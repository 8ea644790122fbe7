/** A sleep of background loops that ends by time, by a wake-up, or by closing. */
export interface Pause {
  readonly closed: boolean;
  /** Returns at once after a wake-up since the last sleep. For one sleeper. */
  sleep(ms: number): Promise<void>;
  /** For backing off: only closing ends it early. */
  sleepUnwoken(ms: number): Promise<void>;
  wake(): void;
  close(): void;
}

export function createPause(): Pause {
  const sleepers = new Set<{ wakeable: boolean; end: () => void }>();
  let closed = false;
  let woken = false;

  const wait = (ms: number, wakeable: boolean): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        sleepers.delete(sleeper);
        resolve();
      };
      const sleeper = { wakeable, end };
      const timer = setTimeout(end, ms);
      sleepers.add(sleeper);
    });

  return {
    get closed() {
      return closed;
    },
    async sleep(ms) {
      if (!closed && !woken) await wait(ms, true);
      woken = false;
    },
    async sleepUnwoken(ms) {
      if (!closed) await wait(ms, false);
    },
    wake() {
      woken = true;
      for (const { wakeable, end } of sleepers) if (wakeable) end();
    },
    close() {
      closed = true;
      for (const { end } of sleepers) end();
    },
  };
}
