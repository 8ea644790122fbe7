import { type World } from "../world/openWorld";

/** A kind of fault. */
export interface Fault {
  name: string;
  /** How long it lasts, from the shortest to the longest time. */
  holdMs: readonly [number, number];
  /** Faults with a common part never overlap. */
  touches?: string;
  /** True when the system needs a minute after the end. Such faults begin in the first half. */
  isSlowToHeal?: true;
  /** Undefined when the world cannot have the fault, for example without Kafka. */
  isPossible?(world: World): boolean;
  begin(world: World, random: () => number): Promise<RunningFault>;
}

export interface RunningFault {
  /** The affected part, for the history and the screen. */
  detail: string;
  end(): Promise<unknown>;
}
