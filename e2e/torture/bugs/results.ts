import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replaceBetween } from "../../docs/replaceBetween";
import { readText, ROOT } from "../../ops/repository";
import { BUGS, type PlantedBug } from "./bugs";

/** How the hunt for a planted bug ended. */
export interface HuntResult {
  name: string;
  /** Runs with the bug, such as `5000x20`. The last one found it, or none did. */
  runs: string[];
  /** Names of the checks that found the bug. Empty: no run found it. */
  findings: string[];
}

const FILE = "docs/evidence/results/bugs.json";
const PAGE = "docs/evidence/torture.md";
const MARK = "npm run torture:bugs writes from here";

/** The stored result of each bug that was run. */
export function readHuntResults(): HuntResult[] {
  return JSON.parse(readFileSync(join(ROOT, FILE), "utf8")) as HuntResult[];
}

/** Adds the result to the file and to the page. It replaces an earlier one of the bug. */
export function saveResult(result: HuntResult): void {
  const all = [result, ...readHuntResults()];
  const results = BUGS.flatMap(({ name }) => all.find((one) => one.name === name) ?? []);
  writeFileSync(join(ROOT, FILE), `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(join(ROOT, PAGE), replaceBetween(readText(PAGE), MARK, renderResults(BUGS, results)));
}

/** The table of all bugs. A bug without a result was not run. */
export function renderResults(bugs: PlantedBug[], results: HuntResult[]): string {
  const found = results.filter(({ findings }) => findings.length > 0);
  const rows = bugs.map(({ name, file }) => {
    const service = /^(?:services\/)?([^/]+)/.exec(file)![1]!;
    const result = results.find((one) => one.name === name);
    return `| ${name} | ${service} | ${describe(result)} |`;
  });
  return [
    `Planted: ${bugs.length}. Run: ${results.length}. Found: ${found.length}.`,
    "",
    "| Planted | In | Run of operations x faults | Found by |\n|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function describe(result: HuntResult | undefined): string {
  if (!result) return "not run |";
  const { runs, findings } = result;
  if (findings.length === 0) return `${runs.join(", ")} | **not found**`;
  return `${runs.length}. (${runs.at(-1)}) | ${findings.join(", ").replaceAll("|", "/")}`;
}
