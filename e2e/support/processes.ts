import { type ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { type ProcessReport } from "@wonrail/local/commands/stack";
import { isAlive, type KnownProcess } from "@wonrail/local/process/fingerprint";

const GONE_MS = 60_000;

/** The process ids by name, without that of one process. */
export function pidsOf(reports: ProcessReport[], except?: string): Record<string, number | undefined> {
  const others = reports.filter(({ name }) => name !== except);
  return Object.fromEntries(others.map(({ name, pid }) => [name, pid]));
}

/** Resolves when the process has ended and all its output has arrived. */
export function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once("close", resolve));
}

export async function untilGone(processes: KnownProcess[]): Promise<void> {
  for (const endMs = Date.now() + GONE_MS; processes.some(isAlive) && Date.now() < endMs;) await sleep(50);
  expect(processes.filter(isAlive)).toEqual([]);
}
