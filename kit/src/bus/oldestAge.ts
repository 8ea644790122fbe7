const FIRST_GUESS_MS = 1_000;
const LONGEST_AGE_MS = 30 * 24 * 3_600_000;
/** Each halves what the doubling left unknown, so the answer is within a sixteenth. */
const REFINEMENTS = 3;

/**
 * How old the message at a position is, for a log that can only be asked for the first position at or after a time. `positionAt` answers
 * for the time that many milliseconds ago. Never more than the true age.
 */
export async function ageOfPosition(
  position: bigint,
  positionAt: (agoMs: number) => Promise<bigint>,
): Promise<number> {
  let atLeastMs = 0;
  let atMostMs = FIRST_GUESS_MS;
  while ((await positionAt(atMostMs)) > position) {
    atLeastMs = atMostMs;
    atMostMs *= 2;
    if (atMostMs > LONGEST_AGE_MS) return atLeastMs;
  }
  for (let step = 0; step < REFINEMENTS; step += 1) {
    const middleMs = (atLeastMs + atMostMs) / 2;
    if ((await positionAt(middleMs)) > position) atLeastMs = middleMs;
    else atMostMs = middleMs;
  }
  return atLeastMs;
}
