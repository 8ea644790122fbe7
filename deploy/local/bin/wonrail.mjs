#!/usr/bin/env node
// Entry of `npx wonrail`. Local commands run here, because `up` handles signals by itself.
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { exitOnFailure, prepare, REPOSITORY } from "./prepare.mjs";

const MAIN = new URL("../dist/cli/main.js", import.meta.url);
if (!existsSync(MAIN)) exitOnFailure(prepare);

const { helpOf, LOCAL_COMMANDS } = await import("../dist/cli/localCommands.js");
const [name, ...args] = process.argv.slice(2);
const local = LOCAL_COMMANDS.find((command) => command.name === name);
if (local === undefined) {
  const { runBuilt } = await import("@wonrail/kit/runBuilt");
  await runBuilt(MAIN);
} else if (args.includes("--help") || args.includes("-h")) {
  process.stdout.write(helpOf(name));
} else {
  process.argv.splice(2, 1);
  await import(pathToFileURL(`${REPOSITORY}/${local.script}`).href);
}
