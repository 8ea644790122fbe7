import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";

const HAS_PROC = existsSync("/proc/self/stat");

/**
 * The start time and command line of a process, or undefined if no process has this id. The id alone does not name a
 * process, because the kernel reuses it.
 */
export function fingerprint(pid: number): string | undefined {
  return HAS_PROC ? fromProc(pid) : fromPs(pid);
}

/** The whole command line, separated by spaces; undefined when the id is free. */
export function commandLine(pid: number): string | undefined {
  try {
    if (HAS_PROC) return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return ps("command=", pid);
  } catch {
    return undefined;
  }
}

export interface KnownProcess {
  name: string;
  pid: number;
  fingerprint: string;
}

export function isAlive({ pid, fingerprint: known }: Pick<KnownProcess, "pid" | "fingerprint">): boolean {
  return fingerprint(pid) === known;
}

function fromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may contain anything, so fields are counted after it: state is the
    // first, start time the 20th.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z") return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return `${fields[19]} ${shortHash(command)}`;
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): string | undefined {
  try {
    return shortHash(ps("lstart=,command=", pid));
  } catch {
    return undefined;
  }
}

function ps(columns: string, pid: number): string {
  const options = { encoding: "utf8", env: { LC_ALL: "C", PATH: "/bin:/usr/bin" } } as const;
  return execFileSync("ps", ["-o", columns, "-p", `${pid}`], options).trim();
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
