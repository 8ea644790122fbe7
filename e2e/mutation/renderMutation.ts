import { isKilled, isSurvivor, type Mutant, scoreOf } from "./mutants";
import { reasonFor } from "./survivors";

export interface ServiceMutants {
  service: string;
  mutants: Mutant[];
}

const LONGEST = 90;

/** The scores of the services, and the mutants that no test killed. */
export function renderResults(results: ServiceMutants[]): string {
  const all = { service: "all", mutants: results.flatMap(({ mutants }) => mutants) };
  const survivors = all.mutants.filter(isSurvivor);
  return [
    "| Service | Mutants | Killed | Not killed | Score |\n|---|---|---|---|---|",
    ...[...results, all].map(renderScore),
    "",
    "| Not killed | Change | Reason |\n|---|---|---|",
    ...survivors.map(renderSurvivor),
  ].join("\n");
}

function renderScore({ service, mutants }: ServiceMutants): string {
  const [killed, survived] = [mutants.filter(isKilled).length, mutants.filter(isSurvivor).length];
  const score = `${(scoreOf(mutants) * 100).toFixed(1)} %`;
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
