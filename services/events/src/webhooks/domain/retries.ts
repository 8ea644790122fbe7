const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The pauses between the attempts: three days in all. */
const PAUSES_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
/** Endpoints that came back must not get all retries at once. */
const JITTER = 0.2;

/** The pause after so many attempts; null when no attempt is left. `random` is from 0 to 1. */
export function pauseAfterMs(attempts: number, random: number): number | null {
  const pauseMs = PAUSES_MS[attempts - 1];
  return pauseMs === undefined ? null : Math.round(pauseMs * (1 - JITTER + 2 * JITTER * random));
}

/** An endpoint that fails for so long is disabled. */
export const FAILING_MS = 5 * 24 * HOUR_MS;
const WARNINGS_PERCENT = [100, 75, 50] as const;

/** The warning that is due, in percent of the time until the end; 0 when none is. */
export function warningDue(failingMs: number, warnedPercent: number): 0 | 50 | 75 | 100 {
  const percent = (failingMs / FAILING_MS) * 100;
  const due = WARNINGS_PERCENT.find((step) => percent >= step) ?? 0;
  return due > warnedPercent ? due : 0;
}
