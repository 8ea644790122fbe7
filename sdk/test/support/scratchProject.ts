import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const PACKAGE = join(__dirname, "../..");
const LIMIT_MS = 120_000;
const resolveHere = createRequire(join(PACKAGE, "package.json"));

export interface ScriptResult {
  ok: boolean;
  output: string;
}

/** A partner's project that holds only the packed library. */
export interface ScratchProject {
  tarball: string;
  library: string;
  write(path: string, text: string): string;
  run(command: string, args: string[], env?: Record<string, string>): Promise<ScriptResult>;
  node(args: string[], env?: Record<string, string>): Promise<ScriptResult>;
  tsc(args: string[]): Promise<ScriptResult>;
  remove(): void;
}

export async function scratchProject(): Promise<ScratchProject> {
  const dir = mkdtempSync(join(tmpdir(), "wonrail-sdk-"));
  const run = (command: string, args: string[], env: Record<string, string> = {}, cwd = dir) =>
    execute(command, args, cwd, env);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
    return join(dir, path);
  };

  write("package.json", '{ "name": "partner", "version": "1.0.0", "private": true }');
  cpSync(join(PACKAGE, "test/consumer"), join(dir, "src"), { recursive: true });
  const pack = ["pack", "--ignore-scripts", "--pack-destination", dir];
  await mustSucceed(run("npm", pack, {}, PACKAGE));
  const tarball = join(
    dir,
    readdirSync(dir).find((name) => name.endsWith(".tgz"))!,
  );
  // Offline: a library without dependencies needs nothing but its own file.
  await mustSucceed(run("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball]));
  return {
    tarball,
    library: join(dir, "node_modules/@wonrail/sdk"),
    write,
    run,
    node: (args, env) => run(process.execPath, args, env),
    tsc: (args) => run(process.execPath, [resolveHere.resolve("typescript/bin/tsc"), ...args]),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

export function execute(
  command: string,
  args: string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<ScriptResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, timeout: LIMIT_MS });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.once("error", reject);
    child.once("close", (code) => resolve({ ok: code === 0, output }));
  });
}

async function mustSucceed(running: Promise<ScriptResult>): Promise<void> {
  const { ok, output } = await running;
  if (!ok) throw new Error(output);
}
