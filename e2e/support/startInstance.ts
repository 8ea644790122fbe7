import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { PROCESSES, ROOT } from "../ops/repository";
import { readLaunch } from "./launched";
import { isReady } from "./replicas";

const READY_MS = 30_000;

/**
 * Starts another instance of a running process on its own ports. Its output goes to the log file,
 * or nowhere.
 */
export async function startInstance(
  name: string,
  pid: number,
  settings: Record<string, string>,
  logFile?: string,
): Promise<ChildProcess> {
  const { command, args, env } = readLaunch(pid);
  const ops = await randomFreePort();
  const { folder } = PROCESSES.find((each) => each.name === name)!;
  const log = logFile === undefined ? "ignore" : openSync(logFile, "a");
  const child = spawn(command, args, {
    cwd: join(ROOT, folder),
    env: { ...env, OPS_PORT: String(ops), ...settings },
    stdio: ["ignore", log, log],
  });
  if (typeof log === "number") closeSync(log);
  for (const endMs = Date.now() + READY_MS; !(await isReady(`127.0.0.1:${ops}`)); await sleep(50)) {
    if (Date.now() < endMs && child.exitCode === null) continue;
    child.kill("SIGKILL");
    throw new Error(`the second ${name} did not start`);
  }
  return child;
}
