import { type Log } from "./log";

export interface ShutdownOptions {
  log: Log;
  /** What the first step waits for load balancers; the grace begins after it. */
  settleMs: number;
  /** After this the process ends, whatever is still running. */
  graceMs: number;
  exit?: (code: number) => void;
}

export interface Shutdown {
  /** What has to be closed, in the order in which it was added. */
  add(name: string, close: () => Promise<void>): void;
  /** Runs on SIGTERM and SIGINT; the second signal ends the process at once. */
  listen(): void;
  /** Closes everything and ends the process: with `process.exitCode` if that is set, with 1 if a step failed, else with 0. */
  run(reason: string): Promise<void>;
}

/**
 * The end of a process. The order in which a service adds its steps is: readiness off and wait until load balancers have noticed,
 * doors (gRPC and HTTP drain), consumers, jobs, outbox relay, clients, bus, database. A step that fails does not keep the others open.
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

  return {
    add: (name, close) => void steps.push({ name, close }),
    listen() {
      process.on("SIGTERM", onSignal);
      process.on("SIGINT", onSignal);
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
