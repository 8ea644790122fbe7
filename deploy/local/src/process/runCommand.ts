import { spawn, type ChildProcess } from "node:child_process";
import { inheritedEnv } from "../config";

export interface CommandResult {
  ok: boolean;
  stdout: string;
  /** The last output, or the reason why the command could not run. */
  problem: string;
}

interface CommandOptions {
  user?: { uid: number; gid: number } | undefined;
  env?: Record<string, string>;
  timeoutMs?: number;
}

const PROBLEM_LINES = 6;
const running = new Set<ChildProcess>();
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** Runs a command to its end. Never throws: the result holds the failure. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const { user, env = {}, timeoutMs = 120_000 } = options;
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: "/",
      env: { ...inheritedEnv(), ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMs,
      ...user,
    });
    running.add(child);
    child.once("exit", () => running.delete(child));
    let stdout = "";
    let all = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      all += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => (all += text));
    child.once("error", (error) => resolve({ ok: false, stdout, problem: error.message }));
    child.once("close", (code, signal) => {
      const tail = all.trim().split("\n").slice(-PROBLEM_LINES).join("\n");
      const problem = tail === "" ? `${command} ended with ${signal ?? `exit code ${code}`}` : tail;
      resolve({ ok: code === 0, stdout, problem });
    });
  });
}
