/**
 * Makes the checkout runnable: the right Node, the locked packages, the compiled sources. Uses only
 * Node's own modules, because it runs before `npm ci`. Each step is skipped when its result exists
 * and still fits.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { isWebBuilt } from "../../../console/web/bin/sources.mjs";
import { isSiteBuilt } from "../../../docs/bin/sources.mjs";

export const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const OLDEST_NODE = [20, 19];
const MODULES = join(REPOSITORY, "node_modules");
/** Records the installed and built state beside the files it describes, so that both are deleted together. */
const INSTALLED = join(MODULES, ".wonrail-installed");
const BUILT = join(MODULES, ".wonrail-built");

/** A failed step. Its message states the reason and the remedy. */
export class PreparationFailed extends Error {}

/** Returns how long each step took. */
export function prepare() {
  requireNode();
  return { installMs: timed(install), buildMs: timed(build) };
}

export function requireNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw failed(
    `Node ${process.versions.node} is too old: this needs ${OLDEST_NODE.join(".")} or newer.`,
    "install Node 20, 22 or 24 (https://nodejs.org, or your version manager), then run this again.",
  );
}

export function install() {
  const lock = hashOf(readFileSync(join(REPOSITORY, "package-lock.json")));
  if (read(INSTALLED) === lock || isInstalledByNpm()) return;
  const next = "see that npm reaches its registry (npm config get registry), then run this again.";
  run("installing packages", ["ci", "--no-progress", "--loglevel=error"], next);
  writeFileSync(INSTALLED, lock);
}

/** npm writes its own marker; one newer than the lock file belongs to it. */
function isInstalledByNpm() {
  const note = join(MODULES, ".package-lock.json");
  return (
    existsSync(note) && statSync(note).mtimeMs >= statSync(join(REPOSITORY, "package-lock.json")).mtimeMs
  );
}

/** Compiles everything, builds the console's page and the documentation; skips unchanged parts. */
export function build() {
  compile();
  if (!isWebBuilt())
    run(
      "building the console",
      ["run", "build", "--loglevel=error", "-w", "@wonrail/console-web"],
      "fix what Vite says, then run this again.",
    );
  if (isSiteBuilt()) return;
  const next = "fix what VitePress says, then run this again.";
  run("building the documentation", ["run", "docs:build", "--loglevel=error"], next);
}

/** Compiles everything, unless nothing changed since the last time. */
export function compile() {
  const sources = hashOfSources();
  if (read(BUILT) === sources && existsSync(join(REPOSITORY, "deploy/local/dist"))) return;
  run("building", ["run", "build", "--loglevel=error"], "fix what the compiler says, then run this again.");
  writeFileSync(BUILT, sources);
}

/** Names, sizes and times of all sources, so that deleted and older files count as changes. */
function hashOfSources() {
  const hash = createHash("sha256");
  for (const file of sourceFiles(REPOSITORY)) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${relative(REPOSITORY, file)} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

const SKIPPED = new Set([
  "node_modules",
  "dist",
  "gen",
  "out",
  "cache",
  "coverage",
  "artifacts",
  "docs",
  "helm",
]);
const SOURCE = /(\.ts|\.proto|tsconfig.*\.json|package\.json|package-lock\.json|buf.*\.yaml)$/;

function* sourceFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !SKIPPED.has(entry.name) && !entry.name.startsWith("."))
      yield* sourceFiles(path);
    if (entry.isFile() && SOURCE.test(entry.name)) yield path;
  }
}

function run(what, args, next) {
  process.stdout.write(`  ${what} (npm ${args[0]}) …\n`);
  const startedAt = Date.now();
  const result = spawnSync("npm", args, { cwd: REPOSITORY, encoding: "utf8", maxBuffer: 1 << 28 });
  if (result.status !== 0) {
    const output = result.error ? result.error.message : `${result.stdout}${result.stderr}`;
    throw failed(`${what} failed:\n${output.trimEnd()}`, next);
  }
  process.stdout.write(`  ${what} took ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
}

function failed(what, next) {
  return new PreparationFailed(`${what}\n  Next: ${next}`);
}

function timed(work) {
  const startedAt = Date.now();
  work();
  return Date.now() - startedAt;
}

function hashOf(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

function read(file) {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** Ends the process with the reason, without a stack, when a step fails. */
export function exitOnFailure(work) {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PreparationFailed)) throw error;
    process.stderr.write(`\n${error.message}\n`);
    process.exit(1);
  }
}
