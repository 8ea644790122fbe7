import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { pages } from "../docs/pages";
import { ROOT } from "../ops/repository";
import { runInvariants, runSlither, runSymbolic } from "./contracts";
import { type BugFigures, type Figures, type TortureFigures } from "./figures";
import { storeResult } from "./results";
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
  bugs: runBugs,
};

const USAGE = `npm run evidence -- [options]

  without options   write ${PAGES.join(" and ")} from the stored results
  --run             run all parts in order, then write the pages: ${Object.keys(PARTS).join(", ")}
  --only a,b        with --run: only these parts
  --torture DIR     store the result of a run of: npm run torture -- --folder DIR
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
  if (values.torture !== undefined) await storeTorture(values.torture, 0);
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
  return runNode(args, { env: { WONRAIL_DEEP: "true", WONRAIL_STORE_FIGURES: "true" } });
}

/** The sizes of the issue: three seeds with every kind of fault, on three brokers. */
async function runTorture(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "wonrail-evidence-"));
  const startedMs = performance.now();
  try {
    const size = ["--ops", "50000", "--faults", "60", "--brokers", "3"];
    const code = await runScript("torture", ["--seed", SEEDS, ...size, "--shrink", "0", "--folder", folder]);
    await storeTorture(folder, secondsSince(startedMs));
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function storeTorture(folder: string, seconds: number): Promise<void> {
  const figures: TortureFigures = { runs: await summariseTorture(folder) };
  if (figures.runs.length === 0) throw new Error(`${folder} has no finished run`);
  storeResult("torture", { command: commandFor("torture"), seconds, figures });
}

async function runBugs(): Promise<number> {
  const startedMs = performance.now();
  let output = "";
  const code = await runScript("tortureBugs", [], (text) => (output += text));
  const [, found, planted] = /^(\d+) of (\d+) bugs found$/m.exec(output) ?? [];
  if (planted === undefined) throw new Error("torture:bugs printed no result");
  const missed = [...output.matchAll(/^\| (.+?) \| .* \| NOT FOUND \|/gm)].map(([, name]) => name!);
  const figures: BugFigures = { planted: Number(planted), found: Number(found), missed };
  storeResult("bugs", { command: commandFor("bugs"), seconds: secondsSince(startedMs), figures });
  return code;
}

/** Runs a script of e2e/bin. */
function runScript(script: string, args: string[], listen?: (text: string) => void): Promise<number> {
  return runNode([join(ROOT, `e2e/bin/${script}.mjs`), ...args], { listen });
}

interface NodeOptions {
  env?: Record<string, string>;
  listen?: ((text: string) => void) | undefined;
}

/** Runs a program, shows its output, and returns its exit code. */
function runNode(args: string[], { env = {}, listen }: NodeOptions): Promise<number> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout.on("data", (chunk: Buffer) => {
    process.stdout.write(chunk);
    listen?.(chunk.toString());
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
