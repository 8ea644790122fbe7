import { existsSync } from "node:fs";
import { join } from "node:path";
import { orExit, prepare, REPOSITORY } from "./prepare.mjs";

/** Runs one of the launcher's other commands. They take what is built as it is: a running stack is not to wait for a compiler. */
export async function command(name) {
  if (!existsSync(join(REPOSITORY, "deploy/local/dist/commands", `${name}.js`))) orExit(prepare);
  const module = await import(`../dist/commands/${name}.js`);
  process.exit(await module[name](process.argv.slice(2)));
}
