import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { readConfig } from "../config";
import { HOME_ENTRIES, homeAt, isHome } from "../home";
import { clearLeftovers } from "../launcher";
import { readLauncher } from "../launcherFile";
import { removeKafkaDocker } from "../parts/kafkaDocker";
import { findDocker } from "../parts/docker";
import { fallbackFolder } from "../parts/postgres";
import { endLauncher } from "./down";

/** Deletes a stack's data, keys and logs. Asks first, unless --yes is given. */
export async function reset(args: string[]): Promise<number> {
  const home = homeAt(readConfig().home);
  if (!existsSync(home.dir)) {
    process.stdout.write(`There is nothing to forget in ${home.dir}.\n`);
    return 0;
  }
  if (!isHome(home)) {
    process.stderr.write(`${home.dir} does not look like a stack's home; nothing was removed.\n`);
    return 1;
  }
  if (!args.includes("--yes") && !(await confirmed(home.dir))) {
    process.stdout.write("Nothing was changed.\n");
    return 1;
  }
  const launcher = readLauncher(home.launcherFile);
  if (launcher) await endLauncher(launcher);
  await clearLeftovers(home, { note: (text) => process.stdout.write(`${text}\n`) });
  if (findDocker().ok && existsSync(home.part("kafka"))) await removeKafkaDocker(home.part("kafka"));
  rmSync(fallbackFolder(home.part("postgres")), { recursive: true, force: true });
  // Deletes by name, so that foreign files stay.
  for (const name of HOME_ENTRIES) rmSync(join(home.dir, name), { recursive: true, force: true });
  process.stdout.write(`Deleted: ${home.dir}. The next \`make up\` starts with new data and keys.\n`);
  return 0;
}

async function confirmed(dir: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    process.stderr.write(
      "This is no terminal, so the command cannot ask: add --yes (npm run reset -- --yes).\n",
    );
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(
    `This removes all data, keys and logs in ${dir}. Type yes to go on: `,
  );
  terminal.close();
  return answer.trim().toLowerCase() === "yes";
}
