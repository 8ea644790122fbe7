import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { fingerprint, isAlive } from "./fingerprint";

/**
 * The holder of a lock while its process lives. The process id alone may belong to another process.
 */
export interface Holder {
  pid: number;
  fingerprint: string;
  startedAt: string;
}

export class LockHeld extends Error {
  override readonly name = "LockHeld";
  constructor(readonly holder: Holder) {
    super(`process ${holder.pid} has it since ${holder.startedAt}`);
  }
}

/** Returns the lock's holder, with its data in the file, if it is alive. */
export function readHolder<T extends Holder>(file: string): T | undefined {
  const holder = parse<T>(file);
  return holder && isAlive(holder) ? holder : undefined;
}

/** Takes the lock or throws LockHeld. A dead holder's file is moved away first, and checked after the move. */
export function takeLock(file: string): Holder {
  const mine: Holder = {
    pid: process.pid,
    fingerprint: fingerprint(process.pid) ?? "",
    startedAt: new Date().toISOString(),
  };
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(mine), { mode: 0o600 });
  try {
    for (;;) {
      if (linkIfMissing(draft, file)) return mine;
      const other = readHolder(file);
      if (other) throw new LockHeld(other);
      removeDead(file);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

function linkIfMissing(draft: string, file: string): boolean {
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
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return; // Another process was quicker.
    throw error;
  }
  // Another start may have placed its own lock between the check and the move: restore that one.
  if (readHolder(aside)) linkIfMissing(aside, file);
  rmSync(aside, { force: true });
}

function parse<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as T;
  } catch {
    return undefined; // No file, or half a file of a killed process.
  }
}
