const AFTER_TROUBLE_MS = 1_000;

export interface Repeated {
  /** Does it at once, or once more if it is being done. */
  soon: () => void;
  /** As `soon`, and resolves when it was done or failed. */
  now(): Promise<void>;
  stop(): Promise<void>;
}

/** Does the work again and again, never twice at a time. Only the first failure in a row is reported. */
export function repeat(
  everyMs: number,
  work: () => Promise<void>,
  onTrouble: (error: unknown) => void,
): Repeated {
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let failures = 0;

  const once = async (): Promise<void> => {
    try {
      await work();
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures === 1) onTrouble(error);
    }
  };
  const run = async (): Promise<void> => {
    do {
      again = false;
      await once();
    } while (again && !stopped);
    running = undefined;
    if (!stopped) timer = setTimeout(soon, failures > 0 ? Math.min(everyMs, AFTER_TROUBLE_MS) : everyMs);
  };
  function soon(): void {
    clearTimeout(timer);
    again = true;
    if (!stopped) running ??= run();
  }

  let timer = setTimeout(soon, everyMs);
  return {
    soon,
    async now() {
      soon();
      await running;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
