import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { missingHaReason } from "@wonrail/local/ha/programs";
import { pages } from "../docs/pages";
import { ROOT } from "../ops/repository";
import { runInvariants, runSlither, runSymbolic } from "./contracts";
import { type Figures } from "./figures";
import { readResult, storeResult } from "./results";
import { summariseTorture } from "./summariseTorture";

const PAGES = ["docs/evidence/index.md", "docs/evidence/contracts.md"];
const SEEDS = "1,2,3";

/** A part stores its own result. The exit code tells whether it found something. */
const PARTS: Record<string, () => Promise<number>> = {
  invariants: () => store("invariants", runInvariants, ({ tests }) => tests.every(({ passed }) => passed)),
  symbolic: () => store("symbolic", runSymbolic, ({ checks }) => checks.every(({ passed }) => passed)),
  slither: () => store("slither", runSlither, () => true),
  fuzz: () => runScript("fuzz", ["--cases", "200000", "--pairs", "20000", "--minutes", "180", "--store"]),
  restore: runRestore,
  torture: runTorture,
  bugs: () => runScript("tortureBugs", []),
};

const USAGE = `npm run evidence -- [options]

  without options   write ${PAGES.join(" and ")} from the stored results
  --run             run all parts in order, then write the pages: ${Object.keys(PARTS).join(", ")}
  --only a,b        with --run: only these parts
  --torture DIR     store the seeds of a run of: npm run torture -- --folder DIR
`;

/** Returns the exit code: 1 when a part found something or did not run. */
export async function main(args = process.argv.slice(2)): Promise<number> {
  const flag = { type: "boolean" as const };
  const text = { type: "string" as const };
  const { values } = parseArgs({ args, options: { help: flag, run: flag, only: text, torture: text } });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  let code = 0;
  if (values.torture !== undefined) await storeTorture(values.torture);
  for (const part of values.run ? (values.only?.split(",") ?? Object.keys(PARTS)) : [])
    code = Math.max(code, await runPart(part));
  for (const path of PAGES) writeFileSync(join(ROOT, path), pages[path]!());
  return code;
}

async function runPart(name: string): Promise<number> {
  const part = PARTS[name];
  if (!part) throw new Error(`There is no part ${name}. There are: ${Object.keys(PARTS).join(", ")}.`);
  process.stdout.write(`== ${name}\n`);
  try {
    return await part();
  } catch (error) {
    process.stdout.write(`${name} did not run: ${(error as Error).message}\n`);
    return 1;
  }
}

async function store<Part extends keyof Figures>(
  name: Part,
  run: () => Promise<Figures[Part]>,
  isSound: (figures: Figures[Part]) => boolean,
): Promise<number> {
  const startedMs = performance.now();
  const figures = await run();
  storeResult(name, { command: commandFor(name), seconds: secondsSince(startedMs), figures });
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  return isSound(figures) ? 0 : 1;
}

/** The rehearsal stores its figures itself. */
function runRestore(): Promise<number> {
  const jest = createRequire(__filename).resolve("jest/bin/jest");
  const args = [jest, "--selectProjects", "int", "--testPathPatterns", "e2e/restore/rehearsal"];
  return runNode(args, { WONRAIL_DEEP: "true", WONRAIL_STORE_FIGURES: "true" });
}

/** Every kind of fault, on three brokers and, where they can run, three servers of PostgreSQL. */
async function runTorture(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "wonrail-evidence-"));
  try {
    const size = ["--ops", "50000", "--faults", "60", "--brokers", "3"];
    const servers = missingHaReason() === undefined ? ["--ha"] : [];
    const options = [...size, ...servers, "--shrink", "0", "--folder", folder];
    const code = await runScript("torture", ["--seed", SEEDS, ...options]);
    await storeTorture(folder);
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Stored seeds that the folder does not have stay. */
async function storeTorture(folder: string): Promise<void> {
  const fresh = await summariseTorture(folder);
  if (fresh.length === 0) throw new Error(`${folder} has no finished run`);
  const stored = readResult("torture")?.figures.runs ?? [];
  const others = stored.filter(({ seed }) => !fresh.some((run) => run.seed === seed));
  const runs = [...others, ...fresh].sort((one, other) => one.seed - other.seed);
  const seconds = runs.reduce((sum, run) => sum + run.seconds, 0);
  storeResult("torture", { command: commandFor("torture"), seconds, figures: { runs } });
}

/** Runs a script of e2e/bin. */
function runScript(script: string, args: string[]): Promise<number> {
  return runNode([join(ROOT, `e2e/bin/${script}.mjs`), ...args]);
}

/** Runs a program, shows its output, and returns its exit code. */
function runNode(args: string[], env: Record<string, string> = {}): Promise<number> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

function commandFor(part: string): string {
  return `npm run evidence -- --run --only ${part}`;
}

function secondsSince(startedMs: number): number {
  return Math.round((performance.now() - startedMs) / 1_000);
}
