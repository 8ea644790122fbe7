import { spawn } from "node:child_process";
import { join } from "node:path";
import { inheritedEnv } from "../config";

const SCRIPT = join(__dirname, "../../guard.sh");

/** Outlives this process just long enough to end the processes it watches, in any kind of end. */
export interface Guard {
  readonly pid: number;
  watch(pid: number, signal: NodeJS.Signals): void;
  forget(pid: number): void;
  close(): void;
}

/** A shell instead of a Node process: it idles and needs one megabyte. */
export function startGuard(temporaryDir?: string): Guard {
  const child = spawn("/bin/sh", temporaryDir === undefined ? [SCRIPT] : [SCRIPT, temporaryDir], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: "/",
    env: inheritedEnv(),
  });
  if (child.pid === undefined) throw new Error("The guard needs /bin/sh, which could not be started.");
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  child.unref();
  return {
    pid: child.pid,
    watch: (pid, signal) => void child.stdin.write(`watch ${pid} ${signal.replace(/^SIG/, "")}\n`),
    forget: (pid) => void child.stdin.write(`forget ${pid}\n`),
    close: () => void child.stdin.end(),
  };
}
