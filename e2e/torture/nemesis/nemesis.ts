import { setTimeout as sleep } from "node:timers/promises";
import { seeded } from "@wonrail/kit/testing/random";
import { type HistoryWriter } from "../historyWriter";
import { type World } from "../world/openWorld";
import { type Fault } from "./fault";
import { type ScheduledFault } from "./schedule";

const LOOK_EVERY_MS = 50;
const END_MS = 60_000;

export interface NemesisOptions {
  world: World;
  history: HistoryWriter;
  schedule: ScheduledFault[];
  faults: readonly Fault[];
  /** The finished part of the run, from 0 to 1. */
  progress: () => number;
  report: (line: string) => void;
}

export interface NemesisResult {
  /** Begun faults by kind. */
  begun: Map<string, number>;
  /** Faults that could not begin or end, with the reason. */
  failed: string[];
}

/** Runs the schedule. Resolves when the last fault has ended. */
export async function runNemesis(options: NemesisOptions): Promise<NemesisResult> {
  const { schedule, faults, progress } = options;
  const result: NemesisResult = { begun: new Map(), failed: [] };
  const busy = new Set<string>();
  const waiting = [...schedule];
  const running = new Set<Promise<void>>();
  while (waiting.length > 0) {
    const reached = progress();
    const next = waiting.find(({ kind, begins }) => begins <= reached && !busy.has(partOf(faults, kind)));
    if (!next) {
      await sleep(LOOK_EVERY_MS);
      continue;
    }
    waiting.splice(waiting.indexOf(next), 1);
    const fault = faults.find(({ name }) => name === next.kind)!;
    const part = partOf(faults, next.kind);
    busy.add(part);
    const one = inject(fault, next, options, result).finally(() => {
      busy.delete(part);
      running.delete(one);
    });
    running.add(one);
  }
  await Promise.all(running);
  return result;
}

/** Faults of the same part wait for each other; the others run at the same time. */
function partOf(faults: readonly Fault[], kind: string): string {
  return faults.find(({ name }) => name === kind)!.touches ?? kind;
}

async function inject(
  fault: Fault,
  { number, holdMs, seed }: ScheduledFault,
  { world, history, report }: NemesisOptions,
  { begun, failed }: NemesisResult,
): Promise<void> {
  const { name } = fault;
  try {
    const { detail, end } = await fault.begin(world, seeded(seed));
    begun.set(name, (begun.get(name) ?? 0) + 1);
    history.write({ kind: "fault", fault: name, phase: "begin", detail });
    report(`fault ${number} begins: ${name} (${detail})`);
    await sleep(holdMs);
    await inTime(end());
    history.write({ kind: "fault", fault: name, phase: "end", detail });
    report(`fault ${number} has ended: ${name}`);
  } catch (error) {
    failed.push(`${number} ${name}: ${(error as Error).message}`);
    report(`fault ${number} failed: ${name}: ${(error as Error).message}`);
  }
}

async function inTime(work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const late = sleep(END_MS, undefined, { signal: over.signal }).then(
    () => {
      throw new Error(`did not end in ${END_MS / 1_000} s`);
    },
    () => undefined,
  );
  try {
    await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}
