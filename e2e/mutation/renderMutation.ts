import { isKilled, isSurvivor, type Mutant } from "./mutants";
import { reasonFor } from "./survivors";

/** The results of one service, as the page shows them. */
export interface ServiceResult {
  service: string;
  killed: number;
  survived: number;
  /** The table's rows of the mutants that no test killed. */
  survivors: string[];
}

const LONGEST = 90;

export function resultOf(service: string, mutants: Mutant[]): ServiceResult {
  const survivors = mutants.filter(isSurvivor).map(renderSurvivor);
  return { service, killed: mutants.filter(isKilled).length, survived: survivors.length, survivors };
}

/** Reads the result of an earlier run from the page. Undefined: the service has not run. */
export function readResult(page: string, service: string): ServiceResult | undefined {
  const lines = page.split("\n");
  const score = lines.find((line) => line.startsWith(`| ${service} | `));
  if (score === undefined) return undefined;
  const [, , , killed, survived] = score.split("|").map(Number) as [0, 0, 0, number, number];
  return { service, killed, survived, survivors: lines.filter((line) => line.startsWith(`| ${service}/`)) };
}

/** The killed ones of the mutants that ran. */
export function scoreOf(results: ServiceResult[]): number {
  const { killed, survived } = sumOf(results);
  return killed / (killed + survived);
}

/** The scores of the services, and the mutants that no test killed. */
export function renderResults(results: ServiceResult[]): string {
  return [
    "| Service | Mutants | Killed | Not killed | Score |\n|---|---|---|---|---|",
    ...[...results, sumOf(results)].map(renderScore),
    "",
    "| Not killed | Change | Reason |\n|---|---|---|",
    ...results.flatMap(({ survivors }) => survivors),
  ].join("\n");
}

function sumOf(results: ServiceResult[]): ServiceResult {
  const sum = (field: "killed" | "survived") => results.reduce((total, result) => total + result[field], 0);
  return { service: "all", killed: sum("killed"), survived: sum("survived"), survivors: [] };
}

function renderScore(result: ServiceResult): string {
  const { service, killed, survived } = result;
  const score = `${(scoreOf([result]) * 100).toFixed(1)} %`;
  return `| ${[service, killed + survived, killed, survived, score].join(" | ")} |`;
}

function renderSurvivor(mutant: Mutant): string {
  const { file, line, original, replacement } = mutant;
  const change = `${codeOf(original)} → ${replacement === "" ? "nothing" : codeOf(replacement)}`;
  const place = `${file.replace("services/", "").replace("/src/", "/")}:${line}`;
  return `| ${place} | ${change} | ${reasonFor(mutant) ?? "a test is missing"} |`;
}

function codeOf(text: string): string {
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return `\`\` ${short.replaceAll("|", "\\|")} \`\``;
}
