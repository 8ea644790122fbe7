/** One handler call may take this long before the consumer counts as stuck. */
const STUCK_AFTER_MS = 5 * 60_000;

export interface Liveness {
  /** Reports a sign of life, even if it is only an attempt to reconnect. */
  recordProgress: () => void;
  /** Runs the handler, which counts as progress up to a limit. */
  during: <T>(work: () => Promise<T>) => Promise<T>;
  /** Resolves when no handler is at work. */
  idle: () => Promise<void>;
  stop: () => void;
  live: () => boolean;
}

/**
 * Whether a consumer still moves. An absent server does not count against it, because a restart
 * would not help: only a consumer that neither fetches, nor handles, nor tries to connect is stuck.
 */
export function watchLiveness(stillAfterMs: number, nowMs = () => performance.now()): Liveness {
  let lastMs = nowMs();
  let stopped = false;
  const handling = new Set<{ sinceMs: number }>();
  const onIdle: (() => void)[] = [];
  return {
    recordProgress() {
      lastMs = nowMs();
    },
    async during(work) {
      const call = { sinceMs: nowMs() };
      handling.add(call);
      try {
        return await work();
      } finally {
        handling.delete(call);
        lastMs = nowMs();
        if (handling.size === 0) for (const resolve of onIdle.splice(0)) resolve();
      }
    },
    async idle() {
      if (handling.size > 0) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
    stop() {
      stopped = true;
    },
    live() {
      if (stopped) return false;
      const now = nowMs();
      if ([...handling].some(({ sinceMs }) => now - sinceMs > STUCK_AFTER_MS)) return false;
      return handling.size > 0 || now - lastMs <= stillAfterMs;
    },
  };
}
