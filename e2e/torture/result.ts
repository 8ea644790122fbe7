import { type ScheduledFault } from "./nemesis/schedule";
import { type Clients } from "./workload/clients";

export interface RunResult {
  seed: number;
  /** The command that repeats the run. */
  command: string;
  historyFile: string;
  schedule: ScheduledFault[];
  outcomes: Clients["outcomes"];
  /** Operations that got no final answer. */
  unknown: number;
  begunFaults: Map<string, number>;
  /** The longest time without a successful write during each kind of fault, in milliseconds. */
  pausesMs: Map<string, number>;
  failedFaults: string[];
  /** Open work at the end. */
  unsettled: Record<string, number>;
  /** Processes that ended by themselves. */
  crashes: string[];
  /** Number of violations by check. */
  violations: Map<string, number>;
  /** The violations, each with its part of the history. */
  violationsText: string;
}

/** The result of a run for the screen. */
export function describeResult(result: RunResult): string {
  const { seed, command, historyFile, outcomes, begunFaults, pausesMs, failedFaults } = result;
  const { unknown, unsettled, crashes, violations, violationsText } = result;
  const lines = [
    `seed ${seed}: ${verdictOf(result)}`,
    "  answers by operation",
    ...[...outcomes].sort().map(([name, codes]) => `    ${name.padEnd(18)} ${describeCounts(codes)}`),
    `  faults: ${describeCounts(begunFaults)}`,
    `  longest time without a successful write: ${describePauses(pausesMs)}`,
    ...listOf("faults that failed", failedFaults),
    ...listOf("processes that ended by themselves", crashes),
    `  operations without an answer: ${unknown}`,
    ...listOf(
      "work that is still open",
      Object.entries(unsettled).map(([name, count]) => `${name}: ${count}`),
    ),
    ...(violations.size === 0 ? [] : [`  violations: ${describeCounts(violations)}`, violationsText]),
    `  history: ${historyFile}`,
    ...(isSound(result) ? [] : [`  again: ${command}`]),
  ];
  return lines.join("\n");
}

/** True when the run found nothing wrong. */
export function isSound({ failedFaults, unknown, unsettled, violations }: RunResult): boolean {
  const problems = [failedFaults.length, unknown, Object.keys(unsettled).length, violations.size];
  return problems.every((count) => count === 0);
}

/** Names of the violations and of the open work. */
export function findingsOf({ failedFaults, unknown, unsettled, violations }: RunResult): string[] {
  return [
    ...violations.keys(),
    ...(unknown === 0 ? [] : ["no answer"]),
    ...Object.keys(unsettled),
    ...failedFaults.map((fault) => `fault ${fault}`),
  ];
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

function describePauses(pausesMs: Map<string, number>): string {
  return [...pausesMs]
    .sort(([, one], [, other]) => other - one)
    .map(([fault, ms]) => `${fault} ${(ms / 1_000).toFixed(1)} s`)
    .join(", ");
}

function listOf(title: string, items: string[]): string[] {
  return items.length === 0 ? [] : [`  ${title}: ${items.length}`, ...items.map((item) => `    ${item}`)];
}
