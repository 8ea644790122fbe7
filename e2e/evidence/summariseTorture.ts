import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type HistoryLine, readHistory } from "../torture/history";

/** Figures of one run of the fault harness. */
export interface TortureRun {
  seed: number;
  /** The day of the run. */
  date: string;
  seconds: number;
  operations: number;
  /** Begun faults by kind. */
  faults: Record<string, number>;
  /** Names of the checks that found something, and of work that did not end. */
  findings: string[];
  /** Operations with a lost attempt and a later answer. */
  resolved: number;
  /** Operations that got no answer in the end. */
  unknown: number;
  /** The longest time from an operation's first attempt to its answer, while such a fault was active. */
  longestWaitMs: Record<string, number>;
}

interface Asked {
  beganAt: number;
  answeredAt?: number;
  wasLost: boolean;
}

interface Period {
  kind: string;
  detail: string;
  from: number;
  to: number;
}

/** Summarises the run's folder of each seed, as `npm run torture -- --folder` leaves them. */
export async function summariseTorture(folder: string): Promise<TortureRun[]> {
  const seeds = readdirSync(folder).filter((name) => existsSync(join(folder, name, "history.jsonl")));
  const runs: TortureRun[] = [];
  for (const seed of seeds.sort((one, other) => Number(one) - Number(other))) {
    const file = join(folder, seed, "result.json");
    // A run that was interrupted has a history and no result.
    if (!existsSync(file)) continue;
    const { findings } = JSON.parse(readFileSync(file, "utf8")) as { findings: string[] };
    runs.push(await summariseHistory(readHistory(join(folder, seed, "history.jsonl")), findings));
  }
  return runs;
}

export async function summariseHistory(
  lines: AsyncIterable<HistoryLine> | Iterable<HistoryLine>,
  findings: string[],
): Promise<TortureRun> {
  const asked = new Map<number, Asked>();
  const periods: Period[] = [];
  let [seed, startedAt, lastAt] = [0, "", 0];
  for await (const line of lines) {
    lastAt = line.at;
    if (line.kind === "start") ({ seed, startedAt } = line);
    if (line.kind === "call" && !asked.has(line.operation))
      asked.set(line.operation, { beganAt: line.at, wasLost: false });
    if (line.kind === "lost") asked.get(line.operation)!.wasLost = true;
    if (line.kind === "answer") noteAnswer(asked.get(line.operation)!, line);
    if (line.kind === "fault") noteFault(periods, line);
  }
  const operations = [...asked.values()];
  return {
    ...{ seed, date: startedAt.slice(0, 10), seconds: Math.round(lastAt / 1_000) },
    ...{ operations: operations.length, faults: countKinds(periods), findings },
    resolved: operations.filter(({ wasLost, answeredAt }) => wasLost && answeredAt !== undefined).length,
    unknown: operations.filter(({ answeredAt }) => answeredAt === undefined).length,
    longestWaitMs: longestWaits(operations, periods),
  };
}

/** An answer of 5xx tells no outcome. A later attempt asks again. */
function noteAnswer(asked: Asked, { at, status }: Extract<HistoryLine, { kind: "answer" }>): void {
  if (status >= 500) asked.wasLost = true;
  else asked.answeredAt = at;
}

function noteFault(periods: Period[], line: Extract<HistoryLine, { kind: "fault" }>): void {
  const { fault: kind, detail, at, phase } = line;
  if (phase === "begin") periods.push({ kind, detail, from: at, to: Infinity });
  const open = periods.find((one) => one.kind === kind && one.detail === detail && one.to === Infinity);
  if (phase === "end" && open) open.to = at;
}

function countKinds(periods: Period[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of periods) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function longestWaits(operations: Asked[], periods: Period[]): Record<string, number> {
  const longest: Record<string, number> = {};
  for (const { kind, from, to } of periods) {
    const waits = operations
      .filter(({ beganAt, answeredAt }) => answeredAt !== undefined && answeredAt >= from && beganAt <= to)
      .map(({ beganAt, answeredAt }) => answeredAt! - beganAt);
    const wait = waits.reduce((most, one) => Math.max(most, one), longest[kind] ?? 0);
    longest[kind] = Math.round(wait);
  }
  return longest;
}
