#!/usr/bin/env node
// npm run bench [-- NAME] [options]: runs all benchmarks of e2e/load or the named one, with these
// options.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const LOAD = fileURLToPath(new URL("../load", import.meta.url));
const tsx = createRequire(import.meta.url).resolve("tsx/cjs");
const all = readdirSync(LOAD).filter((name) => existsSync(join(LOAD, name, "main.ts")));

const [first, ...rest] = process.argv.slice(2);
const named = first !== undefined && !first.startsWith("-");
if (named && !all.includes(first)) {
  process.stderr.write(`There is no benchmark ${first}. There are: ${all.join(", ")}\n`);
  process.exit(2);
}

let code = 0;
for (const name of named ? [first] : all) {
  process.stdout.write(`\n== ${name}\n`);
  const options = named ? rest : process.argv.slice(2);
  const flags = ["--max-semi-space-size=32", "--require", tsx, join(LOAD, name, "main.ts")];
  const { status } = spawnSync(process.execPath, [...flags, ...options], { stdio: "inherit" });
  code ||= status ?? 1;
}
process.exit(code);
