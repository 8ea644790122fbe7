import { linkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { fingerprint, isAlive, type KnownProcess } from "./process/fingerprint";
import { readText, writePrivateJson } from "./privateFile";

/** Who runs the stack of a home. The file is also its lock: only one launcher can make it. */
export interface Launcher extends Omit<KnownProcess, "name"> {
  startedAt: string;
  /** Where it takes commands, once it does. */
  control?: { port: number; token: string };
}

export class AlreadyRunning extends Error {
  override readonly name = "AlreadyRunning";
  constructor(readonly launcher: Launcher) {
    super(`A stack is running already, since ${launcher.startedAt}, as process ${launcher.pid}.`);
  }
}

/** The launcher of this home if it is alive; the number of a process that died may belong to a stranger by now. */
export function readLauncher(file: string): Launcher | undefined {
  const launcher = parse(readText(file));
  return launcher && isAlive(launcher) ? launcher : undefined;
}

/** Takes the lock or throws AlreadyRunning. A dead launcher's lock is moved away first; whoever moves it makes sure that it is the dead one's. */
export function takeLauncherFile(file: string): Launcher {
  const mine: Launcher = {
    pid: process.pid,
    fingerprint: fingerprint(process.pid) ?? "",
    startedAt: new Date().toISOString(),
  };
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(mine), { mode: 0o600 });
  try {
    for (;;) {
      if (linkUnlessThere(draft, file)) return mine;
      const other = readLauncher(file);
      if (other) throw new AlreadyRunning(other);
      removeDead(file);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

export function writeLauncherFile(file: string, launcher: Launcher): void {
  writePrivateJson(file, launcher);
}

function linkUnlessThere(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function removeDead(file: string): void {
  const aside = `${file}.dead.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return; // Somebody else was quicker.
  }
  const moved = parse(readText(aside));
  // Between our look and our move another start may have put its own lock there: that one goes back.
  if (moved && isAlive(moved)) linkUnlessThere(aside, file);
  rmSync(aside, { force: true });
}

function parse(text: string | undefined): Launcher | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Launcher);
  } catch {
    return undefined;
  }
}
