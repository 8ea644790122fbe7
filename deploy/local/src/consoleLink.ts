import { join } from "node:path";
import { operatorName } from "@wonrail/kit/operator";
import { REPOSITORY } from "./config";
import type { Home } from "./home";
import { PartError } from "./parts/partError";
import { runCommand } from "./process/runCommand";

const COMMAND = join(REPOSITORY, "console/server/bin/signInLink.mjs");

/** A link that signs the user of this machine in to the running console, once. */
export async function newConsoleLink({ dir }: Pick<Home, "dir">): Promise<string> {
  const operator = operatorName({});
  const { ok, stdout, problem } = await runCommand(
    process.execPath,
    [COMMAND, "--operator", operator, "--role", "admin"],
    { env: { WONRAIL_HOME: dir } },
  );
  if (ok) return stdout.trim();
  throw new PartError("No link to the console could be made", problem, "read logs/console.log.");
}
