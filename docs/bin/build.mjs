#!/usr/bin/env node
// npm run docs:build: builds the site into docs/dist, and skips the work when no source has changed.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const DOCS = fileURLToPath(new URL("..", import.meta.url));
const SITE = join(DOCS, "dist");
const BUILT = join(SITE, ".sources");
const NOT_SOURCES = new Set(["dist", "node_modules"]);
const COMPRESSED = /\.(html|js|css|svg|json)$/;

const sources = hashOfSources();
if (existsSync(BUILT) && readFileSync(BUILT, "utf8") === sources) process.exit(0);
const { build } = await import("vitepress");
await build(DOCS);
for (const file of filesIn(SITE).filter((path) => COMPRESSED.test(path))) compress(file);
writeFileSync(BUILT, sources);

/** The pages, the theme and the settings that change the result. */
function hashOfSources() {
  const { WONRAIL_DOCS_BASE = "", WONRAIL_DOCS_REPOSITORY = "" } = process.env;
  const hash = createHash("sha256").update(`${WONRAIL_DOCS_BASE} ${WONRAIL_DOCS_REPOSITORY}`);
  for (const file of filesIn(DOCS)) hash.update(`${file}\n`).update(readFileSync(file));
  return hash.digest("hex");
}

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => folder !== DOCS || !NOT_SOURCES.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) =>
      entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)],
    );
}

/** Writes the compressed form beside the file, so that servers need not compress. */
function compress(file) {
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
}
