import { findObstacles } from "./obstacles";

const PREPARED = new Date("2026-11-28T01:00:00Z");
const LATER = new Date("2026-11-28T01:05:00Z");
const SOUND = {
  ...{ finalBlock: 100n, preparedAt: PREPARED, comparedBlock: 100n, comparedAt: LATER },
  ...{ openDrifts: 0, undecided: 0 },
};

test("books that were compared after the restore, without a difference, have no obstacle", () => {
  expect(findObstacles(SOUND)).toEqual([]);
});

test.each([
  ["were never compared", { comparedBlock: null, comparedAt: null }, "not compared up to block 100"],
  ["were compared at an earlier block", { comparedBlock: 99n }, "not compared up to block 100"],
  ["were compared before the restore", { comparedAt: PREPARED }, "not compared up to block 100"],
  ["differ", { openDrifts: 2 }, "2 differences are not acknowledged"],
  ["have an undecided operation", { undecided: 1 }, "1 operations wait for an operator"],
])("books that %s have an obstacle", (_, change, obstacle) => {
  expect(findObstacles({ ...SOUND, ...change })).toEqual([expect.stringContaining(obstacle)]);
});
