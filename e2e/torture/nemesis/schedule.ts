import { seeded } from "@wonrail/kit/testing/random";

/** A fault with its place in a run. */
export interface ScheduledFault {
  number: number;
  kind: string;
  /** The part of the run, from 0 to 1, after which it begins. */
  begins: number;
  holdMs: number;
  /** Decides what the fault affects. */
  seed: number;
}

export interface FaultKind {
  name: string;
  holdMs: readonly [number, number];
  isSlowToHeal?: true;
}

export interface ScheduleOptions {
  seed: number;
  faults: number;
  kinds: readonly FaultKind[];
  /** Divides the length of each fault. Default: 1. */
  speed?: number | undefined;
}

const FIRST = 0.03;
const LAST = 0.9;
const LAST_SLOW = 0.4;

/** Spreads the faults over a run. Each kind comes once before any comes twice. */
export function planSchedule({ seed, faults, kinds, speed = 1 }: ScheduleOptions): ScheduledFault[] {
  const random = seeded(seed);
  const drawn = drawKinds(random, faults, kinds);
  const scheduled = drawn.map(({ name, holdMs: [shortest, longest], isSlowToHeal }) => ({
    kind: name,
    begins: round(FIRST + random() * ((isSlowToHeal ? LAST_SLOW : LAST) - FIRST)),
    holdMs: Math.round((shortest + random() * (longest - shortest)) / speed),
    seed: Math.floor(random() * 2 ** 31),
  }));
  scheduled.sort((one, other) => one.begins - other.begins);
  return scheduled.map((fault, place) => ({ number: place + 1, ...fault }));
}

/** Renders each fault as a line. */
export function describeSchedule(schedule: ScheduledFault[]): string {
  return schedule
    .map(({ number, kind, begins, holdMs }) => {
      const place = `${String(Math.round(begins * 100)).padStart(3)} %`;
      return `  ${String(number).padStart(3)}  ${place}  ${(holdMs / 1_000).toFixed(1).padStart(5)} s  ${kind}`;
    })
    .join("\n");
}

function drawKinds(random: () => number, count: number, kinds: readonly FaultKind[]): FaultKind[] {
  const drawn: FaultKind[] = [];
  while (drawn.length < count) drawn.push(...shuffle(random, kinds));
  return drawn.slice(0, count);
}

function shuffle<T>(random: () => number, list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

function round(part: number): number {
  return Math.round(part * 1_000) / 1_000;
}
