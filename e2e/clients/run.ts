import { spawnSync } from "node:child_process";

const LIMIT_MS = 240_000;

export interface Run {
  ok: boolean;
  output: string;
}

export interface RunOptions {
  cwd?: string;
  /** Variables beside those of this process. */
  env?: Record<string, string>;
  input?: string;
  limitMs?: number;
}

/** Runs a program and returns its output. */
export function run(program: string, args: string[], options: RunOptions = {}): Run {
  const { cwd, env, input, limitMs = LIMIT_MS } = options;
  const all = { ...process.env, ...env };
  const ran = spawnSync(program, args, { cwd, input, env: all, encoding: "utf8", timeout: limitMs });
  return {
    ok: ran.status === 0,
    output: `${ran.stdout ?? ""}${ran.stderr ?? ""}${ran.error?.message ?? ""}`,
  };
}
