import { type Log } from "./log";

export interface ShutdownOptions {
  log: Log;
  /** The first step waits this long for load balancers; the grace period starts after it. */
  settleMs: number;
  /** The process ends after this time, even while steps still run. */
  graceMs: number;
  exit?: (code: number) => void;
}

export interface Shutdown {
  /** Adds a step. Steps run in the order of addition. */
  add(name: string, close: () => Promise<void>): void;
  /**
   * Stops on SIGTERM and SIGINT; the second signal ends the process at once.
   * An uncaught error or unhandled rejection is logged as fatal, and the process drains and exits with 1.
   */
  listen(): void;
  /** Runs all steps and exits: 1 if a step failed, else `process.exitCode`, else 0. */
  run(reason: string): Promise<void>;
}

/**
 * Ends a process in order. A service adds its steps in this order: readiness (with the settling),
 * gRPC and HTTP drain, consumers, jobs, outbox relay, clients, bus, database.
 * A failed step does not stop the later ones.
 */
export function createShutdown({
  log,
  settleMs,
  graceMs,
  exit = (code) => process.exit(code),
}: ShutdownOptions): Shutdown {
  const steps: { name: string; close: () => Promise<void> }[] = [];
  let running: Promise<void> | undefined;

  async function closeAll(reason: string): Promise<void> {
    const startedAt = performance.now();
    log.info({ reason }, "stopping");
    let current = "";
    const timer = setTimeout(() => {
      log.error({ step: current, settleMs, graceMs }, "not stopped in time");
      exit(1);
    }, settleMs + graceMs);

    let failed = false;
    for (const { name, close } of steps) {
      current = name;
      if (!(await closeOne(name, close, log))) failed = true;
    }
    clearTimeout(timer);
    log.info({ reason, durationMs: elapsed(startedAt) }, "stopped");
    exit(failed ? 1 : Number(process.exitCode ?? 0));
  }

  const run = (reason: string) => (running ??= closeAll(reason));
  const onSignal = (signal: NodeJS.Signals) => {
    if (!running) return void run(signal);
    log.warn({ signal }, "stopped at once by a second signal");
    exit(1);
  };

  let hasCrashed = false;
  const onUncaught = (error: unknown) => {
    // Only the first error is logged: an error of the log itself must not loop.
    if (hasCrashed) return;
    hasCrashed = true;
    log.fatal({ err: error }, "uncaught error");
    process.exitCode = 1;
    void run("uncaught error");
  };

  return {
    add: (name, close) => void steps.push({ name, close }),
    listen() {
      process.on("SIGTERM", onSignal);
      process.on("SIGINT", onSignal);
      // Node reports an unhandled rejection as an uncaught exception too.
      process.on("uncaughtException", onUncaught);
    },
    run,
  };
}

async function closeOne(name: string, close: () => Promise<void>, log: Log): Promise<boolean> {
  const startedAt = performance.now();
  try {
    await close();
    log.info({ step: name, durationMs: elapsed(startedAt) }, "closed");
    return true;
  } catch (error) {
    log.error({ step: name, durationMs: elapsed(startedAt), err: error }, "could not be closed");
    return false;
  }
}

function elapsed(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}
