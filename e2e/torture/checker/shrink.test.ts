import fc from "fast-check";
import { shrinkSchedule } from "./shrink";

test("the shortest failing prefix is found within a logarithm of runs", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(200), fc.nat(200), async (length, needed) => {
      const faults = Array.from({ length: Math.max(length, needed) }, (_, index) => index);
      const { schedule, isReproduced, isShortest, runs } = await shrinkSchedule(
        faults,
        async (prefix) => prefix.length >= needed,
      );
      expect([isReproduced, isShortest]).toEqual([true, true]);
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
  expect(await shrinkSchedule(["kill"], async () => false, { confirmations: 3 })).toEqual({
    ...{ schedule: ["kill"], isReproduced: false, isShortest: false, runs: 3 },
  });
});

test("the search ends with the shortest known prefix when the runs are used up", async () => {
  const faults = [...Array(8).keys()];
  const search = (maxRuns: number) =>
    shrinkSchedule(faults, async (prefix) => prefix.length >= 1, { maxRuns });
  expect(await search(2)).toEqual({
    schedule: faults.slice(0, 3),
    isReproduced: true,
    isShortest: false,
    runs: 2,
  });
  expect(await search(20)).toMatchObject({ schedule: [0], isShortest: true });
});
