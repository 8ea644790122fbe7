import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { findTool } from "../ops/tools";
import { cacheFolder } from "./cacheFolder";
import { run } from "./run";

const CLIENT_PACKAGES = join(__dirname, "requirements.txt");
const OLDEST_MINOR = 10;
/** A slow machine compiles the packages for minutes. */
const INSTALL_MS = 1_200_000;

export type Python = { ok: true; command: string; minor: number } | { ok: false; why: string };

/** Python with the packages of a file, in an environment that later runs use again. */
export function findPython(packages = CLIENT_PACKAGES): Python {
  const python = findTool("python3");
  if (python === undefined) return { ok: false, why: "python3 is absent" };
  const version = run(python, ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).output.trim();
  const [major, minor] = version.split(".").map(Number);
  if (major !== 3 || minor === undefined || minor < OLDEST_MINOR)
    return { ok: false, why: `python3 is ${version}, and the packages need 3.${OLDEST_MINOR}` };
  const folder = cacheFolder("python", version, readFileSync(packages, "utf8"));
  const problem = existsSync(folder) ? undefined : install(python, folder, packages);
  if (problem !== undefined) return { ok: false, why: problem };
  return { ok: true, command: join(folder, "bin/python3"), minor };
}

/**
 * The command line of a program that pip installed. The interpreter runs the program's file: its
 * first line names the folder from before `install` renamed the environment.
 */
export function commandOf({ command }: Extract<Python, { ok: true }>, program: string): [string, string] {
  return [command, join(dirname(command), program)];
}

/** Renames the environment when it is complete, so that concurrent runs do not disturb each other. */
function install(python: string, folder: string, packages: string): string | undefined {
  const unfinished = `${folder}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", packages];
  const steps: [string, string[]][] = [
    [python, ["-m", "venv", unfinished]],
    [join(unfinished, "bin/python3"), pip],
  ];
  try {
    for (const [program, args] of steps) {
      const { ok, output } = run(program, args, { limitMs: INSTALL_MS });
      if (!ok) return `Python's packages cannot be installed: ${output.trim().split("\n").at(-1)}`;
    }
    if (!existsSync(folder)) renameSync(unfinished, folder);
    return undefined;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
