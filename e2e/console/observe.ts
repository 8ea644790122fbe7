import { spawn } from "node:child_process";
import { join } from "node:path";
import { findTool } from "../ops/tools";
import { ROOT } from "../ops/repository";

const OBSERVE = join(ROOT, "deploy/prometheus/observe.mjs");

export const hasPrometheus = findTool("prometheus") !== undefined;

/** Prometheus with our rules for a running stack, as `make observe` starts it. */
export function startObserving({ dir }: { dir: string }): { close(): Promise<void> } {
  const child = spawn(process.execPath, [OBSERVE], {
    env: { ...process.env, WONRAIL_HOME: dir },
    stdio: "ignore",
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  return {
    async close() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}
