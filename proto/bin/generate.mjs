import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

// ts-proto has no setting for what generated code encodes with, and copies what it has encoded once more.
const PROTO = dirname(dirname(fileURLToPath(import.meta.url)));
const GENERATED = join(PROTO, "gen");
const LIBRARY = 'from "@bufbuild/protobuf/wire"';
const COPIED = /Buffer\.from\((\w+\.encode\(value\)\.finish\(\))\)/g;

for (const name of readdirSync(GENERATED, { recursive: true })) {
  if (!name.endsWith(".ts")) continue;
  const file = join(GENERATED, name);
  const text = readFileSync(file, "utf8");
  const ours = relative(dirname(file), join(PROTO, "src", "wire"));
  const rewritten = text.replace(LIBRARY, `from "${ours}"`).replace(COPIED, "$1");
  const isOurs = !/\bBinaryWriter\b/.test(text) || rewritten.includes(`from "${ours}"`);
  if (!isOurs || /@bufbuild|Buffer\.from\(\w+\.encode/.test(rewritten)) {
    throw new Error(`${name} encodes in a way that proto/bin/generate.mjs does not know`);
  }
  writeFileSync(file, rewritten);
}
