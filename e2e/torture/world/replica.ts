import { setTimeout as sleep } from "node:timers/promises";
import { type Guard } from "@wonrail/local/process/guard";
import {
  type Exit,
  type OwnedProcess,
  type ProcessSpec,
  signalGroup,
  spawnProcess,
} from "@wonrail/local/process/ownedProcess";

const RESTART_PAUSE_MS = 500;
const READY_MS = 90_000;

/** A process of a service. It starts again when it ends without a request. */
export interface Replica {
  /** The service and the machine, such as `ledger-1`. */
  name: string;
  service: string;
  /** The address of its health checks and metrics. */
  ops: string;
  /** Set while a fault has the replica. Other faults leave it alone. */
  isTaken: boolean;
  pid(): number | undefined;
  /** Exits that no fault caused. */
  crashes: Exit[];
  start(): void;
  /** Ends the process with SIGTERM, or SIGKILL after its grace period, and leaves it down. */
  stop(): Promise<Exit | undefined>;
  /** Kills the process and leaves it down. */
  kill(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the service reports itself ready. */
  untilReady(): Promise<void>;
}

export function createReplica(name: string, service: string, spec: ProcessSpec, guard: Guard): Replica {
  let wanted: AbortController | undefined;
  let owned: OwnedProcess | undefined;
  let running: Promise<void> = Promise.resolve();

  async function keepRunning(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      owned = await spawnProcess(spec, guard);
      if (signal.aborted) signalGroup(owned.pid, "SIGKILL");
      const exit = await owned.exited;
      owned = undefined;
      if (signal.aborted) return;
      if (!replica.isTaken) replica.crashes.push(exit);
      await sleep(RESTART_PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async function end(signal: (process: OwnedProcess) => unknown): Promise<Exit | undefined> {
    wanted?.abort();
    wanted = undefined;
    const ending = owned;
    if (ending) signal(ending);
    await running;
    return ending?.exited;
  }

  const replica: Replica = {
    name,
    service,
    ops: `${spec.env.OPS_HOST}:${spec.env.OPS_PORT}`,
    isTaken: false,
    crashes: [],
    pid: () => owned?.pid,
    start() {
      if (wanted) return;
      const { signal } = (wanted = new AbortController());
      running = running.then(() => keepRunning(signal));
    },
    stop: () => end((process) => process.stop()),
    async kill() {
      await end(({ pid }) => signalGroup(pid, "SIGKILL"));
    },
    signal(signal) {
      if (owned) signalGroup(owned.pid, signal);
    },
    async untilReady() {
      let problem: unknown;
      for (const endMs = Date.now() + READY_MS; Date.now() < endMs; await sleep(100)) {
        try {
          return await spec.probe();
        } catch (error) {
          problem = error;
        }
      }
      throw new Error(`${name} is not ready after ${READY_MS} ms`, { cause: problem });
    },
  };
  return replica;
}
