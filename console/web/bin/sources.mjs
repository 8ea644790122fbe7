// Tells whether dist is the page of the present sources. Plain Node, because `make up` asks it.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const WEB = fileURLToPath(new URL("..", import.meta.url));
export const BUILT = join(WEB, "dist/.sources");
const NOT_SOURCES = new Set(["dist", "node_modules"]);
/** The page contains packages in the versions of the lock file. */
const INCLUDED = ["../../package-lock.json"];

export function isWebBuilt() {
  return existsSync(BUILT) && readFileSync(BUILT, "utf8") === hashOfSources();
}

export function hashOfSources() {
  const hash = createHash("sha256");
  for (const file of [...filesIn(WEB), ...INCLUDED.map((path) => join(WEB, path))])
    hash.update(`${file.slice(WEB.length)}\n`).update(readFileSync(file));
  return hash.digest("hex");
}

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => folder !== WEB || !NOT_SOURCES.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) =>
      entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)],
    );
}
