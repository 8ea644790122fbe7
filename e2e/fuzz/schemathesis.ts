import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandOf, type Python } from "../clients/python";
import { ROOT } from "../ops/repository";

export interface SchemathesisFigures {
  cases: number;
  operations: number;
  serverErrors: number;
  /** Titles of the failures, with the operations that have them. */
  failures: string[];
}

export interface SchemathesisOptions {
  gatewayUrl: string;
  apiKey: string;
  seed: number;
  seconds: number;
}

/** These end the key with which schemathesis calls, move its clock, or make webhooks without end. */
const EXCLUDED = "^/api/(wallet-auth/(api-key|refresh|rotate-secret|keys)|sandbox/(keys|clocks)|webhooks$)";
const ENDLESS = "/api/events/stream";

interface Report {
  operations: { tested: number } | null;
  test_cases: { generated: number; with_failures: number };
  failures: { title: string; count: number; operations: string[] }[];
  errors: { title: string; count: number }[];
}

/** Runs schemathesis against the gateway for some seconds. */
export async function runSchemathesis(
  python: Extract<Python, { ok: true }>,
  { gatewayUrl, apiKey, seed, seconds }: SchemathesisOptions,
): Promise<SchemathesisFigures> {
  const folder = mkdtempSync(join(tmpdir(), "wonrail-schemathesis-"));
  const report = join(folder, "report.json");
  const args = [
    ...["run", join(ROOT, "gateway/openapi.json"), "--url", gatewayUrl],
    ...["--header", `X-API-Key: ${apiKey}`, "--checks", "not_a_server_error"],
    ...["--exclude-path-regex", EXCLUDED, "--exclude-path", ENDLESS],
    ...["--phases", "examples,coverage,fuzzing", "--max-time", String(seconds), "--workers", "4"],
    ...["--seed", String(seed), "--no-shrink", "--continue-on-failure", "--no-color"],
    ...["--generation-database", "none", "--suppress-health-check", "all", "--report-json-path", report],
  ];
  try {
    const [command, script] = commandOf(python, "schemathesis");
    const output = await outputOf(command, [script, ...args], folder);
    return readReport(report, output);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The exit code tells of failures only, which the report lists. */
function outputOf(program: string, args: string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd, maxBuffer: 1 << 28 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}

function readReport(file: string, output: string): SchemathesisFigures {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(file, "utf8")) as Report;
  } catch (cause) {
    throw new Error(`schemathesis wrote no report:\n${output.slice(-2_000)}`, { cause });
  }
  // The report has the titles only.
  if (report.errors.length > 0) process.stderr.write(`${errorsIn(output)}\n`);
  const errors = report.errors.map(({ title, count }) => `${title}: ${count}`);
  return {
    cases: report.test_cases.generated,
    operations: report.operations?.tested ?? 0,
    serverErrors: report.test_cases.with_failures,
    failures: [
      ...report.failures.map(({ title, operations }) => `${title}: ${operations.join(", ")}`),
      ...errors,
    ],
  };
}

/** The part of the output that explains what schemathesis could not do. */
function errorsIn(output: string): string {
  return /^=+ ERRORS =+$[^]*?(?=^=+ [A-Z]|$(?![^]))/m.exec(output)?.[0] ?? output.slice(-2_000);
}
