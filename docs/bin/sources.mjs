// Tells whether docs/dist is the site of the present sources. Plain Node, because `make up` asks it.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const DOCS = fileURLToPath(new URL("..", import.meta.url));
export const SITE = join(DOCS, "dist");
const BUILT = join(SITE, ".sources");
const NOT_SOURCES = new Set(["dist", "node_modules"]);
/** Pages include sections of these files. */
const INCLUDED = ["../ARCHITECTURE.md", "../CONTRIBUTING.md"];

export function isSiteBuilt() {
  return existsSync(BUILT) && readFileSync(BUILT, "utf8") === hashOfSources();
}

export function markSiteBuilt() {
  writeFileSync(BUILT, hashOfSources());
}

/** Covers the pages, the theme and the settings that change the result. */
function hashOfSources() {
  const { WONRAIL_DOCS_BASE = "", WONRAIL_DOCS_REPOSITORY = "" } = process.env;
  const hash = createHash("sha256").update(`${WONRAIL_DOCS_BASE} ${WONRAIL_DOCS_REPOSITORY}`);
  const files = [...filesIn(DOCS), ...INCLUDED.map((path) => join(DOCS, path))];
  for (const file of files) hash.update(`${file.slice(DOCS.length)}\n`).update(readFileSync(file));
  return hash.digest("hex");
}

export function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => folder !== DOCS || !NOT_SOURCES.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) =>
      entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)],
    );
}
