import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { commandOf, findPython } from "../clients/python";
import { ROOT } from "../ops/repository";
import { EVIDENCE_PACKAGES } from "./python";

export const CONTRACTS = join(ROOT, "contracts");

export interface Output {
  code: number;
  output: string;
}

/** Runs a program in contracts/ and returns its exit code and output. */
function runTool(program: string, args: string[], env: Record<string, string> = {}): Promise<Output> {
  const options = { cwd: CONTRACTS, env: { ...process.env, NO_COLOR: "1", ...env }, maxBuffer: 1 << 28 };
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error && typeof error.code !== "number") reject(new Error(error.message));
      else resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr });
    });
  });
}

/** Runs our forge, which finds the compiler and OpenZeppelin in npm's packages. */
export function runForge(args: string[], env?: Record<string, string>): Promise<Output> {
  return runTool(process.execPath, [join(CONTRACTS, "bin/forge.mjs"), ...args], env);
}

/**
 * Runs one of Python's analysers, which call `forge` themselves. `folder` is for its files and is
 * deleted.
 */
export async function analyse<T>(
  program: string,
  work: (
    run: (args: string[], env?: Record<string, string>) => Promise<Output>,
    folder: string,
  ) => Promise<T>,
): Promise<T> {
  const python = findPython(EVIDENCE_PACKAGES);
  if (!python.ok) throw new Error(`${program} does not run: ${python.why}`);
  const folder = mkdtempSync(join(tmpdir(), "wonrail-evidence-"));
  try {
    writeForge(join(folder, "forge"));
    const [command, script] = commandOf(python, program);
    const PATH = [folder, dirname(script), process.env.PATH ?? ""].join(":");
    return await work((args, env) => runTool(command, [script, ...args], { ...env, PATH }), folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeForge(file: string): void {
  const forge = join(CONTRACTS, "bin/forge.mjs");
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${forge}" "$@"\n`);
  chmodSync(file, 0o755);
}
