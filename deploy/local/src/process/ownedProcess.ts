import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PartError } from "../parts/partError";
import type { Guard } from "./guard";
import { lastLines } from "./lastLines";

/** Everything needed to start a process of the stack, also repeatedly. */
export interface ProcessSpec {
  name: string;
  command: string;
  /** Evaluated at each start. */
  args: () => readonly string[];
  env: Record<string, string>;
  cwd: string;
  /** Another user to run as: PostgreSQL refuses to be root. */
  user?: { uid: number; gid: number };
  logFile: string;
  stopSignal: NodeJS.Signals;
  stopGraceMs: number;
  readyTimeoutMs: number;
  /** Clears the remains of an earlier killed run. */
  beforeSpawn?: () => Promise<void>;
  /** Resolves once the process works; repeated until then. */
  probe: () => Promise<void>;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface OwnedProcess {
  readonly spec: ProcessSpec;
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** Resolves when the process works. Rejects when it ends earlier or takes too long. */
  ready(): Promise<void>;
  /** Stops it, by force after the grace period. */
  stop(): Promise<Exit>;
}

const PROBE_PAUSE_MS = 50;

/**
 * Starts the process and returns when it is ready. The error of a failure holds its last output.
 */
export async function startProcess(spec: ProcessSpec, guard: Guard): Promise<OwnedProcess> {
  const owned = await spawnProcess(spec, guard);
  try {
    await owned.ready();
    return owned;
  } catch (error) {
    await owned.stop();
    throw error;
  }
}

export async function spawnProcess(spec: ProcessSpec, guard: Guard): Promise<OwnedProcess> {
  await spec.beforeSpawn?.();
  const child = spawnLogged(spec);
  const { pid } = child;
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", () => resolve({ code: 127, signal: null }));
  });
  if (pid === undefined) throw failed(spec, `${spec.command} cannot be run`);
  guard.watch(pid, spec.stopSignal);
  void exited.then(() => guard.forget(pid));
  return {
    spec,
    pid,
    exited,
    ready: () => untilReady(spec, exited),
    stop: () => stopProcess(spec, pid, exited),
  };
}

export function describeExit({ code, signal }: Exit): string {
  return signal === null ? `exit code ${code}` : signal;
}

/** The process leads its group, so its children get the signal too. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The guard has ended.
  }
}

/**
 * The file itself is the process's output, so no output passes through the launcher or is lost with
 * it.
 */
function spawnLogged(spec: ProcessSpec): ChildProcess {
  mkdirSync(dirname(spec.logFile), { recursive: true });
  const log = openSync(spec.logFile, "a", 0o600);
  try {
    return spawn(spec.command, spec.args(), {
      cwd: spec.cwd,
      env: spec.env,
      // Its own group: Ctrl-C reaches only the launcher, which then stops everything in order.
      detached: true,
      stdio: ["ignore", log, log],
      ...spec.user,
    });
  } finally {
    closeSync(log);
  }
}

async function stopProcess(spec: ProcessSpec, pid: number, exited: Promise<Exit>): Promise<Exit> {
  signalGroup(pid, spec.stopSignal);
  const insist = setTimeout(() => signalGroup(pid, "SIGKILL"), spec.stopGraceMs);
  try {
    return await exited;
  } finally {
    clearTimeout(insist);
  }
}

async function untilReady(spec: ProcessSpec, exited: Promise<Exit>): Promise<void> {
  let over = false;
  const gone = exited.then((exit) => {
    throw failed(spec, `it ended at once with ${describeExit(exit)}`);
  });
  try {
    await Promise.race([gone, probeUntil(spec, () => over)]);
  } finally {
    over = true;
  }
}

async function probeUntil(spec: ProcessSpec, over: () => boolean): Promise<void> {
  const deadline = Date.now() + spec.readyTimeoutMs;
  let last = "it never answered";
  while (Date.now() < deadline && !over()) {
    try {
      return await spec.probe();
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await sleep(PROBE_PAUSE_MS);
  }
  if (!over()) throw failed(spec, `it was not ready after ${spec.readyTimeoutMs / 1000} s (${last})`);
}

function failed(spec: ProcessSpec, why: string): PartError {
  const tail = lastLines(spec.logFile, 8)
    .map((line) => `\n    ${line}`)
    .join("");
  return new PartError(
    `${spec.name} did not start`,
    tail === "" ? why : `${why}. It wrote:${tail}`,
    `read ${spec.logFile}, fix the cause, and start again; "make doctor" checks this machine.`,
  );
}
