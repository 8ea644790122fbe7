import { existsSync } from "node:fs";
import { join } from "node:path";
import { exitOnFailure, prepare, REPOSITORY } from "./prepare.mjs";

/** A command line that is wrong is a sentence, not a stack of calls. */
function usage(error) {
  if (!error.code?.startsWith("ERR_PARSE_ARGS_")) throw error;
  process.stderr.write(`${error.message}\n`);
  return 64;
}

/** Runs a command of the launcher without a build: a running stack does not wait for a compiler. */
export async function command(name) {
  if (!existsSync(join(REPOSITORY, "deploy/local/dist/commands", `${name}.js`))) exitOnFailure(prepare);
  const module = await import(`../dist/commands/${name}.js`);
  process.exit(await module[name](process.argv.slice(2)).catch(usage));
}
