import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { analyse, runForge } from "./tools";

// Three analyses of the contracts. Each returns its figures, also when it found something.

export interface InvariantFigures {
  runs: number;
  calls: number;
  tests: { name: string; runs: number; calls: number; passed: boolean }[];
}

export interface SymbolicFigures {
  /** `boundedLoops`: loops that were cut, so that the check holds for fewer turns only. */
  checks: { name: string; passed: boolean; seconds: number; paths: number; boundedLoops: number }[];
}

export interface SlitherFigures {
  detectors: number;
  findings: SlitherFinding[];
}

export interface SlitherFinding {
  /** The detector and the first element, such as "timestamp MintCap.mintableToday()". */
  key: string;
  impact: string;
  /** The lines of our sources. */
  place: string;
}

const RUNS = 5_000;
const DEPTH = 100;
/** The symbolic checks have loops of at most this many turns. halmos reports a loop that it cut. */
export const LOOP_TURNS = "8";

/** Random sequences of calls against a model. */
export async function runInvariants(): Promise<InvariantFigures> {
  const env = { FOUNDRY_INVARIANT_RUNS: String(RUNS), FOUNDRY_INVARIANT_DEPTH: String(DEPTH) };
  const { output } = await runForge(["test", "--match-test", "^invariant_"], env);
  const lines = output.matchAll(/^\[(PASS|FAIL)[^\]]*\] (\w+)\(\) \(runs: (\d+), calls: (\d+)/gm);
  const tests = [...lines].map(([, verdict, name, runs, calls]) => ({
    ...{ name: name!, runs: Number(runs), calls: Number(calls) },
    passed: verdict === "PASS",
  }));
  if (tests.length === 0) throw new Error(`forge ran no invariant:\n${output}`);
  const sum = (field: "runs" | "calls") => tests.reduce((total, test) => total + test[field], 0);
  return { runs: sum("runs"), calls: sum("calls"), tests };
}

interface HalmosReport {
  test_results: Record<string, HalmosTest[]>;
}

interface HalmosTest {
  name: string;
  exitcode: number;
  num_paths?: [number, number, number] | null;
  time?: [number, ...number[]] | null;
  num_bounded_loops?: number | null;
}

/** Proofs for all arguments. The build has folders of its own, because it has other options. */
export function runSymbolic(): Promise<SymbolicFigures> {
  return analyse("halmos", async (run, folder) => {
    const report = join(folder, "halmos.json");
    const env = { FOUNDRY_OUT: "out/symbolic", FOUNDRY_CACHE_PATH: "cache/symbolic" };
    const limits = ["--solver-timeout-assertion", "300s", "--loop", LOOP_TURNS];
    const out = ["--forge-build-out", "out/symbolic", "--json-output", report, "--no-status"];
    const { output } = await run(["--contract", "SymbolicTest", ...limits, ...out], env);
    if (!existsSync(report)) throw new Error(`halmos wrote no report:\n${output}`);
    const { test_results } = JSON.parse(readFileSync(report, "utf8")) as HalmosReport;
    const checks = Object.values(test_results)
      .flat()
      .map(({ name, exitcode, num_paths, time, num_bounded_loops }) => ({
        ...{ name: name.replace(/\(.*/, ""), passed: exitcode === 0 },
        ...{ seconds: Math.round(time?.[0] ?? 0), paths: num_paths?.[0] ?? 0 },
        boundedLoops: num_bounded_loops ?? 0,
      }));
    if (checks.some(({ passed }) => !passed)) process.stderr.write(output);
    return { checks };
  });
}

interface SlitherReport {
  success: boolean;
  error: string | null;
  results: { detectors?: SlitherResult[] };
}

interface SlitherResult {
  check: string;
  impact: string;
  elements: SlitherElement[];
}

interface SlitherElement {
  type: string;
  name: string;
  source_mapping: { filename_relative: string; lines: number[] };
  type_specific_fields?: { signature?: string; parent?: SlitherElement };
}

/** Findings in our sources. Findings inside OpenZeppelin are left out. */
export function runSlither(): Promise<SlitherFigures> {
  return analyse("slither", async (run, folder) => {
    const report = join(folder, "slither.json");
    const env = { FOUNDRY_OUT: "out/slither", FOUNDRY_CACHE_PATH: "cache/slither" };
    const { output } = await run(
      [".", "--json", report, "--filter-paths", "node_modules|openzeppelin|test/"],
      env,
    );
    if (!existsSync(report)) throw new Error(`slither wrote no report:\n${output}`);
    const { success, error, results } = JSON.parse(readFileSync(report, "utf8")) as SlitherReport;
    if (!success) throw new Error(`slither failed: ${error}`);
    const detectors = Number(/with (\d+) detectors/.exec(output)?.[1]);
    return { detectors, findings: (results.detectors ?? []).map(describeFinding) };
  });
}

function describeFinding({ check, impact, elements: [first] }: SlitherResult): SlitherFinding {
  if (!first) return { key: check, impact, place: "" };
  const { filename_relative, lines } = first.source_mapping;
  return {
    key: `${check} ${nameOf(first)}`,
    impact,
    place: `${filename_relative.split("/").at(-1)}:${lines[0]}`,
  };
}

/** The element with the contract and function around it. */
function nameOf({ type, name, type_specific_fields }: SlitherElement): string {
  const own = type_specific_fields?.signature ?? name;
  const parent = type_specific_fields?.parent;
  if (!parent || parent.type === "file" || type === "contract") return own;
  return `${nameOf(parent)}.${own}`;
}
