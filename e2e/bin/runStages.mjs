import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { install, exitOnFailure, REPOSITORY, requireNode } from "../../deploy/local/bin/prepare.mjs";
import { STAGES } from "./stages.mjs";
import summary from "./summary.js";

const JEST = join(REPOSITORY, "node_modules/jest/bin/jest.js");
const BACKENDS = "backends.txt";
const SKIPPED = "skipped.txt";

/**
 * Runs the named stages in order, also after a failure. An `aside` stage runs beside the following
 * ones, until an `alone` stage waits for it. Returns the exit code.
 */
export async function runStages(defaults, args) {
  const { names, patterns } = readOptions(defaults, args);
  exitOnFailure(() => {
    requireNode();
    install();
  });
  const reports = mkdtempSync(join(tmpdir(), "wonrail-report-"));
  const results = await runInTurn(
    STAGES.filter(({ name }) => names.includes(name)),
    (stage) => runStage(stage, reports, patterns),
  );
  print(results, reports);
  rmSync(reports, { recursive: true, force: true });
  return results.every(({ failed }) => failed === 0) ? 0 : 1;
}

function readOptions(defaults, args) {
  const known = STAGES.map(({ name }) => name);
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { only: { type: "string", multiple: true } },
  });
  const names = values.only?.flatMap((text) => text.split(",")) ?? defaults;
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`There is no stage ${unknown.join(", ")}. There are: ${known.join(", ")}.\n`);
    process.exit(64);
  }
  return { names, patterns: positionals };
}

async function runInTurn(stages, runOne) {
  const results = [];
  const aside = [];
  for (const stage of stages) {
    if (stage.alone) await Promise.all(aside);
    const result = stage.aside ? runAside(stage) : await runOne(stage);
    if (stage.aside) aside.push(result);
    results.push(result);
  }
  return Promise.all(results);
}

/** Prints the output in one piece at the end. */
async function runAside({ name, command }) {
  const startedAt = Date.now();
  let output = "";
  const exitCode = await run(command, {}, (text) => (output += text));
  process.stdout.write(`\n── ${name}, meanwhile\n${output}`);
  return { name, ...summary.commandResult(exitCode), durationMs: Date.now() - startedAt };
}

async function runStage(stage, reports, patterns) {
  process.stdout.write(`\n── ${stage.name}\n`);
  const startedAt = Date.now();
  const result = stage.jest
    ? await runJest(stage, reports, patterns)
    : summary.commandResult(await run(stage.command, {}));
  return { name: stage.name, ...result, durationMs: Date.now() - startedAt };
}

async function runJest({ name, jest, whole = [] }, reports, patterns) {
  const outputFile = join(reports, `${name}.json`);
  const narrowed = patterns.length > 0 ? ["--testPathPatterns", ...patterns] : whole;
  const args = [JEST, ...jest, ...narrowed, "--json", `--outputFile=${outputFile}`];
  const exitCode = await run([process.execPath, ...args], {
    WONRAIL_TEST_BACKENDS: join(reports, BACKENDS),
    WONRAIL_TEST_SKIPPED: join(reports, SKIPPED),
  });
  const report = existsSync(outputFile) ? JSON.parse(readFileSync(outputFile, "utf8")) : undefined;
  const result = summary.jestResult(exitCode, report);
  return process.env.WONRAIL_TEST_COMPLETE === "true" ? summary.withoutSkips(result) : result;
}

/** jest also writes its JSON to standard output; readable output comes on standard error. */
function run([command, ...args], env, hear) {
  const toldTo = args.includes("--json") ? "ignore" : "inherit";
  const stdio = hear ? ["ignore", "pipe", "pipe"] : ["ignore", toldTo, "inherit"];
  const child = spawn(command, args, { cwd: REPOSITORY, stdio, env: { ...process.env, ...env } });
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", hear);
  return new Promise((resolve) => {
    child.once("error", (error) => {
      process.stderr.write(`${error.message}\n`);
      resolve(1);
    });
    child.once("close", (code) => resolve(code ?? 1));
  });
}

function print(results, reports) {
  const skipped = summary.skippedLines(results, linesOf(join(reports, SKIPPED)), REPOSITORY);
  const lines = [
    "",
    ...results.map(summary.stageLine),
    ...linesOf(join(reports, BACKENDS)).map((label) => `     used: ${label}`),
    ...(skipped.length > 0 ? skipped : [""]),
    summary.totalLine(results),
  ];
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}

/** Returns distinct lines, or none without the file. */
function linesOf(file) {
  return existsSync(file) ? [...new Set(readFileSync(file, "utf8").trim().split("\n"))] : [];
}
