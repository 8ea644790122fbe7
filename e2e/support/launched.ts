import { readFileSync } from "node:fs";

/** Command line and environment of a stack's process, to start another one like it. */
export interface Launched {
  command: string;
  args: string[];
  env: Record<string, string>;
}

export function readLaunch(pid: number): Launched {
  const [command, ...args] = textsOf(pid, "cmdline");
  return { command: command!, args, env: Object.fromEntries(textsOf(pid, "environ").map(variableOf)) };
}

function textsOf(pid: number, file: "cmdline" | "environ"): string[] {
  return readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0").filter(Boolean);
}

function variableOf(entry: string): [string, string] {
  const end = entry.indexOf("=");
  return [entry.slice(0, end), entry.slice(end + 1)];
}
