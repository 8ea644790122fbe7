import { type Clients } from "./workload/clients";

export interface RunResult {
  seed: number;
  historyFile: string;
  outcomes: Clients["outcomes"];
  /** Operations that got no final answer. */
  unknown: number;
  begunFaults: Map<string, number>;
  failedFaults: string[];
  /** Open work at the end. */
  unsettled: Record<string, number>;
  /** Processes that ended by themselves. */
  crashes: string[];
  violations: string[];
}

/** The result of a run for the screen. */
export function describeResult(result: RunResult): string {
  const { seed, historyFile, outcomes, begunFaults, failedFaults, unknown, unsettled, crashes, violations } =
    result;
  const lines = [
    `seed ${seed}: ${verdictOf(result)}`,
    "  answers by operation",
    ...[...outcomes].sort().map(([name, codes]) => `    ${name.padEnd(18)} ${describeCounts(codes)}`),
    `  faults: ${describeCounts(begunFaults)}`,
    ...listOf("faults that failed", failedFaults),
    ...listOf("processes that ended by themselves", crashes),
    `  operations without an answer: ${unknown}`,
    ...listOf(
      "work that is still open",
      Object.entries(unsettled).map(([name, count]) => `${name}: ${count}`),
    ),
    ...listOf("violations", violations),
    `  history: ${historyFile}`,
  ];
  return lines.join("\n");
}

/** True when the run found nothing wrong. */
export function isSound({ failedFaults, unknown, unsettled, violations }: RunResult): boolean {
  return (
    [failedFaults, Object.keys(unsettled), violations].every(({ length }) => length === 0) && unknown === 0
  );
}

function verdictOf(result: RunResult): string {
  return isSound(result) ? "passed" : "FAILED";
}

function describeCounts(counts: Map<string, number>): string {
  return [...counts]
    .sort()
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}

function listOf(title: string, items: string[]): string[] {
  return items.length === 0 ? [] : [`  ${title}: ${items.length}`, ...items.map((item) => `    ${item}`)];
}
