import fc from "fast-check";
import { ageOfPosition } from "./oldestAge";

describe("ageOfPosition", () => {
  /** A log whose message at position n was written `ages[n]` milliseconds ago, oldest first. */
  const log = (ages: number[]) => (agoMs: number) => {
    const first = ages.findIndex((age) => age <= agoMs);
    return Promise.resolve(BigInt(first === -1 ? ages.length : first));
  };

  it("finds the age of a message to a sixteenth, and never says more than the truth", async () => {
    const ageMs = fc.integer({ min: 0, max: 7 * 24 * 3_600_000 });
    const logs = fc.array(ageMs, { minLength: 1, maxLength: 20 }).map((ages) => ages.sort((a, b) => b - a));
    await fc.assert(
      fc.asyncProperty(logs, fc.nat(), async (ages, pick) => {
        const position = ages.indexOf(ages[pick % ages.length]!);
        const found = await ageOfPosition(BigInt(position), log(ages));
        expect(found).toBeLessThanOrEqual(ages[position]!);
        expect(found).toBeGreaterThanOrEqual(ages[position]! - Math.max(125, ages[position]! / 8));
      }),
    );
  });

  it("ends, also when the log never answers with the position", async () => {
    let calls = 0;
    const age = await ageOfPosition(0n, async () => {
      calls += 1;
      return 1n;
    });
    expect(age).toBeGreaterThan(7 * 24 * 3_600_000);
    expect(calls).toBeLessThan(40);
  });
});
