import { type FailureCount, failureSubjects, judgeFailures } from "./throttle";

const now = new Date(1_700_000_000_000);
const windowEndsAt = new Date(1_700_000_030_000);
const subjects = failureSubjects("wk_test_abc", "10.0.0.7");
const address = (failures: number): FailureCount => ({ ...subjects[0]!, failures, windowEndsAt });
const key = (failures: number): FailureCount => ({ ...subjects[1]!, failures, windowEndsAt });

test("a failure counts for the address and the key", () => {
  expect(subjects).toEqual([
    { kind: "ADDRESS", name: "10.0.0.7" },
    { kind: "KEY", name: "wk_test_abc" },
  ]);
  const { waitsMs, added } = judgeFailures([subjects], [], now);
  expect(waitsMs).toEqual([0]);
  expect(added).toEqual(
    subjects.map((subject) => ({ ...subject, failures: 1, windowEndsAt: new Date(1_700_000_060_000) })),
  );
});

test.each([
  ["the tenth failure of a key", [key(9)], 0],
  ["the eleventh failure of a key", [key(10)], 30_000],
  ["the twentieth failure of an address", [address(19)], 0],
  ["the twenty-first failure of an address", [address(20)], 30_000],
])("%s is throttled or not", (_, counts, waitMs) => {
  expect(judgeFailures([subjects], counts, now).waitsMs).toEqual([waitMs]);
});

test("a throttled caller adds no failure", () => {
  const { waitsMs, added } = judgeFailures([subjects], [key(11)], now);
  expect({ waitsMs, added }).toEqual({ waitsMs: [30_000], added: [] });
});

test("failures of one batch are counted in order", () => {
  const { waitsMs, added } = judgeFailures(Array(15).fill(subjects), [], now);
  expect(waitsMs).toEqual([...Array(10).fill(0), ...Array(5).fill(60_000)]);
  expect(added.map(({ failures }) => failures)).toEqual([11, 11]);
});

test("an ended window throttles no caller", () => {
  const later = new Date(windowEndsAt.getTime() + 1);
  expect(judgeFailures([subjects], [key(11)], later).waitsMs).toEqual([0]);
});
