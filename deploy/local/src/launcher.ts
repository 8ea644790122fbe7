import { rmSync } from "node:fs";
import type { Checklist } from "./checklist";
import type { LocalConfig } from "./config";
import { openControl, type ControlDoor } from "./control";
import { makeHome, type Home } from "./home";
import { writeLauncherFile } from "./launcherFile";
import { fingerprint, type KnownProcess } from "./process/fingerprint";
import { startGuard, type Guard } from "./process/guard";
import { takeLock } from "./process/lockFile";
import { endLeftovers } from "./process/leftovers";
import { openPortBook } from "./process/reservePort";
import { Supervisor } from "./process/supervisor";
import { readText, writePrivateJson } from "./privateFile";
import { startLogRotation } from "./rotateLogs";
import { startStack } from "./startStack";
import { writeStackFile, type Stack } from "./stackFile";

export interface LauncherOptions {
  config: LocalConfig;
  home: Home;
  checklist: Checklist;
  /** Aborted by a stop request. */
  stop: AbortController;
  onReady: (stack: Stack) => Promise<void>;
}

/**
 * Runs a stack from start to stop. Returns after the complete stop; throws the reason of a failed
 * start.
 */
export async function runLauncher({
  config,
  home,
  checklist,
  stop,
  onReady,
}: LauncherOptions): Promise<void> {
  makeHome(home);
  const launcher = takeLock(home.launcherFile);
  const closers: (() => Promise<void> | void)[] = [() => rmSync(home.launcherFile, { force: true })];
  try {
    await clearLeftovers(home, checklist);
    const ports = openPortBook();
    closers.push(() => ports.release());
    const guard = startGuard();
    closers.push(() => guard.close());
    const known: { stack?: Stack } = {};
    const onTrouble = (message: string): void => checklist.note(message);
    const supervisor = new Supervisor({
      guard,
      onChange: () => recordProcesses(home, guard, supervisor, known.stack),
      onTrouble,
    });
    closers.push(
      () => rmSync(home.processesFile, { force: true }),
      () => supervisor.close(),
    );
    const control = await openControlOf(supervisor, stop);
    closers.push(() => control.close());
    writeLauncherFile(home.launcherFile, {
      ...launcher,
      control: { port: control.port, token: control.token },
    });
    const rotation = startLogRotation({ logsDir: home.logsDir, onTrouble });
    closers.push(() => rotation.close());

    // A stop request ends starting parts at once, and thereby the start.
    stop.signal.addEventListener("abort", () => void supervisor.close());
    const onClose = (close: () => Promise<void>): void => void closers.push(close);
    const start = { config, home, supervisor, ports, checklist, signal: stop.signal, onClose };
    const stack = await startStack(start);
    known.stack = stack;
    recordProcesses(home, guard, supervisor, stack);
    await onReady(stack);
    await aborted(stop.signal);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Processes that a killed launcher and its killed guard left behind. */
export async function clearLeftovers(
  { processesFile }: Home,
  checklist: Pick<Checklist, "note">,
): Promise<void> {
  const known = JSON.parse(readText(processesFile) ?? "[]") as KnownProcess[];
  const ended = await endLeftovers(known);
  if (ended.length > 0) checklist.note(`Ended what an earlier start left running: ${ended.join(", ")}.`);
  rmSync(processesFile, { force: true });
}

function openControlOf(supervisor: Supervisor, stop: AbortController): Promise<ControlDoor> {
  return openControl({
    act: (verb, name) => supervisor[verb](name),
    statuses: () => supervisor.statuses(),
    shutdown: () => stop.abort(),
  });
}

/** Records the processes for the next start after a kill, and for readers of stack.json. */
function recordProcesses(home: Home, guard: Guard, supervisor: Supervisor, stack: Stack | undefined): void {
  const statuses = supervisor.statuses();
  const running = [{ name: "guard", pid: guard.pid }, ...statuses].flatMap(({ name, pid }) => {
    const known = pid === undefined ? undefined : fingerprint(pid);
    return pid === undefined || known === undefined ? [] : [{ name, pid, fingerprint: known }];
  });
  writePrivateJson(home.processesFile, running satisfies KnownProcess[]);
  if (!stack) return;
  for (const { name, pid } of statuses) {
    const entry = stack.services[name];
    if (entry) entry.pid = pid ?? null;
  }
  writeStackFile(home.stackFile, stack);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
