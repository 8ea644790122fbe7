import * as fc from "fast-check";
import { FAILING_MS, pauseAfterMs, warningDue } from "./retries";

const HOUR_MS = 3_600_000;

test("nine retries follow within about three days, each within a fifth of its pause", () => {
  const pauses = Array.from({ length: 10 }, (_, index) => pauseAfterMs(index + 1, 0.5));
  expect(pauses.slice(0, 3)).toEqual([5_000, 300_000, 1_800_000]);
  expect(pauses[9]).toBeNull();
  const totalMs = pauses.reduce<number>((sum, pause) => sum + (pause ?? 0), 0);
  expect(totalMs / HOUR_MS).toBeCloseTo(75.6, 0);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempts, random) => {
        const middle = pauseAfterMs(attempts, 0.5)!;
        const pause = pauseAfterMs(attempts, random)!;
        expect(pause).toBeGreaterThanOrEqual(middle * 0.8 - 1);
        expect(pause).toBeLessThanOrEqual(middle * 1.2 + 1);
      },
    ),
  );
});

test("each warning is due once, and a late check gives the last one only", () => {
  const at = (share: number, warned: number) => warningDue(FAILING_MS * share, warned);
  expect([at(0.49, 0), at(0.5, 0), at(0.6, 50), at(0.75, 50), at(0.99, 75), at(1, 75), at(2, 0)]).toEqual([
    0, 50, 0, 75, 0, 100, 100,
  ]);
  const fiveDaysMs = 120 * HOUR_MS;
  expect([fiveDaysMs - 1, fiveDaysMs].map((ms) => warningDue(ms, 0))).toEqual([75, 100]);
});
