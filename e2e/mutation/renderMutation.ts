import { countOf, type Mutant, scoreOf } from "./mutants";
import { reasonFor } from "./survivors";

export interface ServiceMutants {
  service: string;
  mutants: Mutant[];
}

const LONGEST = 90;

/** The scores of the services, and the mutants that no test killed. */
export function renderResults(results: ServiceMutants[]): string {
  const all = { service: "all", mutants: results.flatMap(({ mutants }) => mutants) };
  const survivors = all.mutants.filter(({ status }) => status === "Survived" || status === "NoCoverage");
  return [
    "| Service | Mutants | Killed | Not killed | Static, not run | Score |\n|---|---|---|---|---|---|",
    ...[...results, all].map(renderScore),
    "",
    "| Not killed | Change | Reason |\n|---|---|---|",
    ...survivors.map(renderSurvivor),
  ].join("\n");
}

function renderScore({ service, mutants }: ServiceMutants): string {
  const killed = countOf(mutants, ["Killed", "Timeout"]);
  const survived = countOf(mutants, ["Survived", "NoCoverage"]);
  const ignored = countOf(mutants, ["Ignored"]);
  const score = `${(scoreOf(mutants) * 100).toFixed(1)} %`;
  return `| ${[service, mutants.length, killed, survived, ignored, score].join(" | ")} |`;
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
