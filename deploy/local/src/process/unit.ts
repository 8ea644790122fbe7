import { setTimeout as sleep } from "node:timers/promises";
import type { Guard } from "./guard";
import { describeExit, spawnProcess, type OwnedProcess, type ProcessSpec } from "./ownedProcess";
import { createRetryingTask, type RetryingTask } from "./retryingTask";

export type UnitState = "stopped" | "starting" | "ready" | "restarting" | "stopping";

export interface UnitStatus {
  name: string;
  state: UnitState;
  pid: number | undefined;
  /** The number of automatic restarts. */
  restarts: number;
}

export interface UnitDeps {
  guard: Guard;
  onChange: (status: UnitStatus) => void;
  /** Called with a readable sentence: the process ended, or could not be restarted. */
  onTrouble: (message: string) => void;
  /** How long to wait before the nth attempt in a row. */
  backoffMs?: (failures: number) => number;
}

const STABLE_MS = 30_000;

/** A process of the stack that is kept running until it is stopped on request. */
export class Unit {
  #spec: ProcessSpec;
  #deps: UnitDeps;
  #state: UnitState = "stopped";
  #process: OwnedProcess | undefined;
  #restarts = 0;
  /** Set while the process is wanted; aborting it ends the pause before the next attempt. */
  #wanted: AbortController | undefined;
  #loop: Promise<void> = Promise.resolve();
  #retryingTask: RetryingTask;

  constructor(spec: ProcessSpec, deps: UnitDeps) {
    this.#spec = spec;
    this.#deps = deps;
    this.#retryingTask = createRetryingTask(deps.onTrouble);
  }

  get status(): UnitStatus {
    return { name: this.#spec.name, state: this.#state, pid: this.#process?.pid, restarts: this.#restarts };
  }

  /**
   * Resolves when it is ready. A failed first start is not repeated: its caller waits for the
   * answer.
   */
  start(): Promise<void> {
    if (this.#wanted) return Promise.resolve();
    const wanted = new AbortController();
    this.#wanted = wanted;
    return new Promise((resolve, reject) => {
      // The stopping process must end first, because two processes would need the same port.
      this.#loop = this.#loop.then(() => this.#keepRunning(wanted.signal, { resolve, reject }));
    });
  }

  async stop(): Promise<void> {
    this.#wanted?.abort();
    this.#wanted = undefined;
    // The present loop only: a concurrent start continues.
    const loop = this.#loop;
    if (this.#process) this.#change("stopping");
    await this.#process?.stop();
    await loop;
  }

  async #keepRunning(
    signal: AbortSignal,
    first: { resolve(): void; reject(error: unknown): void },
  ): Promise<void> {
    const { onTrouble, backoffMs = defaultBackoffMs } = this.#deps;
    let failures = 0;
    let everReady = false;
    while (!signal.aborted) {
      const startedAt = Date.now();
      this.#change(failures === 0 ? "starting" : "restarting");
      try {
        await this.#attempt(signal);
        everReady = true;
        first.resolve();
        const exit = await this.#process!.exited;
        if (!signal.aborted)
          onTrouble(`${this.#spec.name} ended with ${describeExit(exit)}; starting it again`);
      } catch (error) {
        await this.#process?.stop();
        if (!everReady) {
          first.reject(error);
          break;
        }
        if (!signal.aborted) onTrouble(error instanceof Error ? error.message : String(error));
      }
      this.#process = undefined;
      if (signal.aborted) break;
      failures = Date.now() - startedAt > STABLE_MS ? 1 : failures + 1;
      this.#restarts += 1;
      this.#change("restarting");
      await sleep(backoffMs(failures), undefined, { signal }).catch(() => undefined);
    }
    this.#process = undefined;
    if (this.#wanted?.signal === signal) this.#wanted = undefined;
    this.#change("stopped");
    // Only matters for a process that was stopped before its turn; other callers have their answer.
    first.reject(this.#stoppedEarly());
  }

  async #attempt(signal: AbortSignal): Promise<void> {
    this.#process = await spawnProcess(this.#spec, this.#deps.guard);
    // A stop before the process existed had no process to end.
    if (signal.aborted) throw this.#stoppedEarly();
    this.#change(this.#state);
    await this.#process.ready();
    this.#change("ready");
  }

  #stoppedEarly(): Error {
    return new Error(`${this.#spec.name} was stopped before it was ready`);
  }

  /** An error in a listener does not end the process. The listener gets the next change. */
  #change(state: UnitState): void {
    this.#state = state;
    this.#retryingTask(`The new state of ${this.#spec.name} cannot be recorded`, () =>
      this.#deps.onChange(this.status),
    );
  }
}

/**
 * At once after the first crash, then slower up to every ten seconds, for as long as the stack
 * runs.
 */
function defaultBackoffMs(failures: number): number {
  return Math.min(10_000, 100 * 2 ** Math.min(failures, 10));
}
