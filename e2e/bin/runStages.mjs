import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { install, orExit, REPOSITORY, requireNode } from "../../deploy/local/bin/prepare.mjs";
import { STAGES } from "./stages.mjs";
import summary from "./summary.js";

const JEST = join(REPOSITORY, "node_modules/jest/bin/jest.js");
const BACKENDS = "backends.txt";

/** Runs the named stages one after the other, also when one fails: a run tells everything it can. Returns the exit code. */
export function runStages(defaults, args) {
  const { names, patterns } = readOptions(defaults, args);
  orExit(() => {
    requireNode();
    install();
  });
  const reports = mkdtempSync(join(tmpdir(), "wonrail-report-"));
  const results = STAGES.filter(({ name }) => names.includes(name)).map((stage) =>
    runStage(stage, reports, patterns),
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

function runStage(stage, reports, patterns) {
  process.stdout.write(`\n── ${stage.name}\n`);
  const startedAt = Date.now();
  const result = stage.jest
    ? runJest(stage, reports, patterns)
    : summary.commandResult(run(stage.command, {}));
  return { name: stage.name, ...result, durationMs: Date.now() - startedAt };
}

function runJest({ name, jest, whole = [] }, reports, patterns) {
  const outputFile = join(reports, `${name}.json`);
  const narrowed = patterns.length > 0 ? ["--testPathPatterns", ...patterns] : whole;
  const args = [JEST, ...jest, ...narrowed, "--json", `--outputFile=${outputFile}`];
  const exitCode = run([process.execPath, ...args], { WONRAIL_TEST_BACKENDS: join(reports, BACKENDS) });
  return summary.jestResult(
    exitCode,
    existsSync(outputFile) ? JSON.parse(readFileSync(outputFile, "utf8")) : undefined,
  );
}

/** jest writes its JSON to standard output as well as to the file; what people read comes on standard error. */
function run([command, ...args], env) {
  const stdio = ["ignore", args.includes("--json") ? "ignore" : "inherit", "inherit"];
  const { status, error } = spawnSync(command, args, {
    cwd: REPOSITORY,
    stdio,
    env: { ...process.env, ...env },
  });
  if (error) process.stderr.write(`${error.message}\n`);
  return status ?? 1;
}

function print(results, reports) {
  const backends = join(reports, BACKENDS);
  const used = existsSync(backends) ? [...new Set(readFileSync(backends, "utf8").trim().split("\n"))] : [];
  process.stdout.write(`\n${results.map((result) => `${summary.stageLine(result)}\n`).join("")}`);
  process.stdout.write(used.map((label) => `     used: ${label}\n`).join(""));
  process.stdout.write(`\n${summary.totalLine(results)}\n`);
}
