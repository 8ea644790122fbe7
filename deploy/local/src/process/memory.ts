import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";

const HAS_PROC = existsSync("/proc/self/smaps_rollup");

/**
 * Bytes of memory of a process. Shared pages are divided between their users, where the system
 * reports that.
 */
export function memoryOf(pid: number): number {
  return HAS_PROC ? proportional(pid) : resident(pid);
}

/** Includes its children; PostgreSQL has a process per connection. */
export function memoryOfTree(pid: number): number {
  return HAS_PROC
    ? treeOf(pid, parentsFromProc()).reduce((sum, one) => sum + proportional(one), 0)
    : resident(pid);
}

function treeOf(root: number, parents: ReadonlyMap<number, number>): number[] {
  const tree = [root];
  for (const pid of tree) for (const [child, parent] of parents) if (parent === pid) tree.push(child);
  return tree;
}

function parentsFromProc(): Map<number, number> {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? readOrEmpty(`/proc/${name}/stat`) : "";
    const parent = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  return parents;
}

function proportional(pid: number): number {
  const kibibytes = /^Pss:\s+(\d+) kB/m.exec(readOrEmpty(`/proc/${pid}/smaps_rollup`))?.[1];
  return Number(kibibytes ?? 0) * 1024;
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // The process has ended.
  }
}

/** Without /proc, shared pages count in full. */
function resident(pid: number): number {
  try {
    return Number(execFileSync("ps", ["-o", "rss=", "-p", `${pid}`], { encoding: "utf8" }).trim()) * 1024;
  } catch {
    return 0;
  }
}
