import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PartError } from "../parts/partError";
import type { Guard } from "./guard";
import { lastLines } from "./lastLines";

/** Everything there is to know to start a process of the stack, and to start it again. */
export interface ProcessSpec {
  name: string;
  command: string;
  args: readonly string[];
  env: Record<string, string>;
  cwd: string;
  /** Another user to run as: PostgreSQL refuses to be root. */
  user?: { uid: number; gid: number };
  logFile: string;
  stopSignal: NodeJS.Signals;
  stopGraceMs: number;
  readyTimeoutMs: number;
  /** Resolves once the process does its work; asked again until it does. */
  probe(): Promise<void>;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface OwnedProcess {
  readonly spec: ProcessSpec;
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** Asks it to stop and insists after the grace time. */
  stop(): Promise<Exit>;
}

const PROBE_PAUSE_MS = 50;

/** Starts the process and returns when it is ready. What it wrote last is in the error when it is not. */
export async function startProcess(spec: ProcessSpec, guard: Guard): Promise<OwnedProcess> {
  const owned = spawnProcess(spec, guard);
  const timeout = new AbortController();
  try {
    const gone = owned.exited.then((exit) => {
      throw failed(spec, `it ended at once with ${describeExit(exit)}`);
    });
    await Promise.race([gone, untilReady(spec, timeout.signal)]);
    return owned;
  } catch (error) {
    await owned.stop();
    throw error;
  } finally {
    timeout.abort();
  }
}

export function describeExit({ code, signal }: Exit): string {
  return signal === null ? `exit code ${code}` : signal;
}

function spawnProcess(spec: ProcessSpec, guard: Guard): OwnedProcess {
  mkdirSync(dirname(spec.logFile), { recursive: true });
  const log = openSync(spec.logFile, "a", 0o600);
  let child: ChildProcess;
  try {
    child = spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env: spec.env,
      // A group of its own: Ctrl-C reaches only the launcher, which then stops everything in order.
      detached: true,
      stdio: ["ignore", log, log],
      ...spec.user,
    });
  } finally {
    closeSync(log);
  }
  const { pid } = child;
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", () => resolve({ code: 127, signal: null }));
  });
  if (pid === undefined) throw failed(spec, `${spec.command} cannot be run`);
  guard.watch(pid, spec.stopSignal);
  void exited.then(() => guard.forget(pid));
  return { spec, pid, exited, stop: () => stopProcess(spec, pid, exited) };
}

async function stopProcess(spec: ProcessSpec, pid: number, exited: Promise<Exit>): Promise<Exit> {
  signalGroup(pid, spec.stopSignal);
  const timer = new AbortController();
  const late = sleep(spec.stopGraceMs, "late" as const, { signal: timer.signal, ref: true }).catch(
    () => "late" as const,
  );
  const first = await Promise.race([exited, late]);
  timer.abort();
  if (first === "late") signalGroup(pid, "SIGKILL");
  return exited;
}

/** The process leads its group, so what it started goes with it. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody left to tell.
  }
}

async function untilReady(spec: ProcessSpec, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + spec.readyTimeoutMs;
  let last = "it never answered";
  while (Date.now() < deadline && !signal.aborted) {
    try {
      return await spec.probe();
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await sleep(PROBE_PAUSE_MS);
  }
  if (!signal.aborted) throw failed(spec, `it was not ready after ${spec.readyTimeoutMs / 1000} s (${last})`);
}

function failed(spec: ProcessSpec, why: string): PartError {
  const tail = lastLines(spec.logFile, 8);
  return new PartError(
    `${spec.name} did not start`,
    tail === "" ? why : `${why}. It wrote:\n${tail}`,
    `read ${spec.logFile}, mend what it says, and start again; "make doctor" checks this machine.`,
  );
}
