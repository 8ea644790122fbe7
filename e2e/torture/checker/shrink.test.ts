import fc from "fast-check";
import { shrinkSchedule } from "./shrink";

test("the shortest failing prefix is found within a logarithm of runs", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(200), fc.nat(200), async (length, needed) => {
      const faults = Array.from({ length: Math.max(length, needed) }, (_, index) => index);
      const { schedule, isReproduced, runs } = await shrinkSchedule(
        faults,
        async (prefix) => prefix.length >= needed,
      );
      expect(isReproduced).toBe(true);
      expect(schedule).toEqual(faults.slice(0, needed));
      expect(runs).toBeLessThanOrEqual(2 * (Math.log2(faults.length + 1) + 3));
    }),
    { seed: 1 },
  );
});

test("a prefix that fails every second time is not taken for a passing one", async () => {
  let runs = 0;
  const flaky = async (prefix: string[]) => prefix.length >= 2 && (runs += 1) % 2 === 0;
  expect((await shrinkSchedule(["kill", "stop", "cut", "step"], flaky)).schedule).toEqual(["kill", "stop"]);
});

test("a schedule that does not fail again is returned whole", async () => {
  expect(await shrinkSchedule(["kill"], async () => false, 3)).toEqual({
    ...{ schedule: ["kill"], isReproduced: false, runs: 3 },
  });
});
