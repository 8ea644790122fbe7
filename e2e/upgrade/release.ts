import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Stack } from "@wonrail/local/stackFile";
import { ROOT } from "../ops/repository";

const READY_MS = 600_000;

/** Another release's stack, by that release's own launcher. */
export interface Release {
  /** An organisation's key, from that release's own command. */
  newKey(stack: Stack): Promise<string>;
  restart(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** A separate checkout, so that the two releases are independent. */
export async function checkOut(commit: string, place: string): Promise<string> {
  const folder = join(place, "release");
  await output(ROOT, "git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, folder);
  await output(
    folder,
    "git",
    "checkout",
    "--quiet",
    "--detach",
    await output(ROOT, "git", "rev-parse", commit),
  );
  return folder;
}

export async function startRelease(folder: string, home: string): Promise<Release> {
  const env = { ...process.env, WONRAIL_HOME: home, CI: "true" };
  const up = spawn(process.execPath, ["deploy/local/bin/up.mjs", "--attached", "--bus", "feed"], {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const exited = new Promise<void>((resolve) => up.once("exit", () => resolve()));
  let printed = "";
  for (const stream of [up.stdout, up.stderr])
    stream.on("data", (text: Buffer) => (printed += text.toString()));
  for (const endMs = Date.now() + READY_MS; !printed.includes("Stop with Ctrl-C."); await sleep(200)) {
    if (up.exitCode !== null || Date.now() > endMs) {
      up.kill("SIGKILL");
      throw new Error(`The release did not start:\n${printed}`);
    }
  }
  return {
    async newKey(stack) {
      const args =
        "--name Upgrade --code UPGRADE --plan ENTERPRISE --rate 10000 --burst 10000 --daily-limit 1000000000";
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [
          "services/auth/bin/admin.mjs",
          "org",
          "create",
          ...args.split(" "),
          ...reasonFor(folder),
          "--incentive-bps",
          "500",
          "--json",
        ],
        { cwd: folder, env: { ...env, DATABASE_URL: stack.postgres.urls.auth } },
      );
      return (JSON.parse(stdout) as { apiKey: string }).apiKey;
    },
    restart: async (name) => {
      const options = { cwd: folder, env };
      await promisify(execFile)(process.execPath, ["deploy/local/bin/stack.mjs", "restart", name], options);
    },
    async stop() {
      up.kill("SIGTERM");
      await exited;
    },
  };
}

/** Commands of releases with admin RPCs require a reason. */
export function reasonFor(folder: string): string[] {
  return existsSync(join(folder, "proto/adminRoles.json")) ? ["--reason", "test"] : [];
}

export async function output(cwd: string, command: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd });
  return stdout.trim();
}
