/**
 * Number of overlapping calls: one service works on the first while the next works on the second.
 * More calls would be smaller, and pay the fixed cost of a call more often.
 */
const AT_ONCE = 3;
/**
 * Longest delay of the next call by a slow one. It limits the number of calls to the longest
 * deadline divided by this.
 */
export const MAX_HEAD_START_MS = 50;
const LONGEST_MS = AT_ONCE * MAX_HEAD_START_MS;

export interface Pace {
  /**
   * How long a call that leaves now delays the next one if it does not end earlier; given the
   * number of others.
   */
  headStartMs(others: number): number;
  ended(tookMs: number): void;
}

/** Lets calls leave at even intervals, whatever their present duration. */
export function createPace(): Pace {
  let usualMs = LONGEST_MS;
  return {
    headStartMs: (others) => (others < AT_ONCE ? usualMs / AT_ONCE : MAX_HEAD_START_MS),
    // A slow call must not delay later ones for long.
    ended: (tookMs) => void (usualMs += (Math.min(tookMs, LONGEST_MS) - usualMs) / 8),
  };
}
