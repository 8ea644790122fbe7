import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inheritedEnv } from "../config";
import { startGuard, type Guard } from "./guard";
import type { ProcessSpec } from "./ownedProcess";

/** For tests: a folder, a guard, and processes of one shell script. */
export interface Workbench {
  dir: string;
  guard: Guard;
  spec(script: string, options?: Partial<ProcessSpec>): ProcessSpec;
  clear(): void;
}

export function workbench(): Workbench {
  const dir = mkdtempSync(join(tmpdir(), "wonrail-local-"));
  const guard = startGuard();
  return {
    dir,
    guard,
    spec: (script, options = {}) => ({
      name: "script",
      command: "/bin/sh",
      args: () => ["-c", script],
      env: inheritedEnv(),
      cwd: dir,
      logFile: join(dir, "script.log"),
      stopSignal: "SIGTERM",
      stopGraceMs: 20_000,
      readyTimeoutMs: 20_000,
      probe: async () => undefined,
      ...options,
    }),
    clear() {
      guard.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export async function until(condition: () => boolean, withinMs = 20_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not so within ${withinMs} ms: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
