import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { findTool } from "../ops/tools";

const VERSION = "1.1.0";
const INSTALL_MS = 120_000;

/** Verifies a delivery with PyPI's standardwebhooks, and returns the event. Throws when the signature is wrong. */
export type PythonVerifier = (secret: string, headers: Record<string, string>, body: string) => unknown;

const VERIFY = `
import json, sys
from standardwebhooks.webhooks import Webhook
given = json.load(sys.stdin)
print(json.dumps(Webhook(given["secret"]).verify(given["body"], given["headers"])))
`;

/** Returns the reason instead when this machine cannot run the library. */
export function findPythonVerifier(): PythonVerifier | string {
  const python = findTool("python3");
  if (python === undefined) return "python3 is absent";
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  const folder = join(cache, `wonrail/standardwebhooks-${VERSION}`);
  const problem = existsSync(join(folder, "ready")) ? undefined : install(python, folder);
  if (problem !== undefined) return problem;
  return (secret, headers, body) => {
    const input = JSON.stringify({ secret, headers, body });
    const out = execFileSync(join(folder, "bin/python3"), ["-c", VERIFY], {
      input,
      encoding: "utf8",
      stdio: "pipe",
    });
    return JSON.parse(out) as unknown;
  };
}

/** Installs the library into a folder of its own, which later runs use again. Returns the problem. */
function install(python: string, folder: string): string | undefined {
  rmSync(folder, { recursive: true, force: true });
  const steps: [string, string[]][] = [
    [python, ["-m", "venv", folder]],
    [join(folder, "bin/python3"), ["-m", "pip", "install", "--quiet", `standardwebhooks==${VERSION}`]],
    [join(folder, "bin/python3"), ["-c", `open(${JSON.stringify(join(folder, "ready"))}, "w")`]],
  ];
  for (const [program, args] of steps) {
    const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8", timeout: INSTALL_MS });
    if (status !== 0)
      return `PyPI's standardwebhooks cannot be installed: ${(error?.message ?? stderr).trim().split("\n").at(-1)}`;
  }
  return undefined;
}
