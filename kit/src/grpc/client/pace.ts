/**
 * While calls end in their usual time, so many are under way: one service works on the first while the next works on the second. With more of them each
 * would be smaller, and what a call costs however small it is would be paid more often.
 */
const AT_ONCE = 3;
/** How long a call may keep the next one from leaving, whatever it waits for. Also what limits them: to the longest deadline divided by this. */
export const MAX_HEAD_START_MS = 50;
const LONGEST_MS = AT_ONCE * MAX_HEAD_START_MS;

export interface Pace {
  /** How long a call that leaves now keeps the next one waiting if it does not end before; with so many others under way. */
  headStartMs(others: number): number;
  ended(tookMs: number): void;
}

/** Lets calls leave at even distances, whatever they take on this machine in this hour. */
export function createPace(): Pace {
  let usualMs = LONGEST_MS;
  return {
    headStartMs: (others) => (others < AT_ONCE ? usualMs / AT_ONCE : MAX_HEAD_START_MS),
    // One that waits for something must not slow down those after it for long.
    ended: (tookMs) => void (usualMs += (Math.min(tookMs, LONGEST_MS) - usualMs) / 8),
  };
}
