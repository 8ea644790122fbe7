import { failureSubjects, throttledForMs } from "./throttle";

const now = new Date(1_700_000_000_000);
const windowEndsAt = new Date(1_700_000_030_000);

test("a failure counts against the address and the key", () => {
  expect(failureSubjects("wk_test_abc", "10.0.0.7")).toEqual([
    { kind: "ADDRESS", name: "10.0.0.7" },
    { kind: "KEY", name: "wk_test_abc" },
  ]);
});

test("the eleventh failure of a key and the twenty-first of an address have to wait for the window's end", () => {
  const count = (kind: "KEY" | "ADDRESS", failures: number) => [{ kind, name: "x", failures, windowEndsAt }];
  expect(throttledForMs(count("KEY", 10), now)).toBe(0);
  expect(throttledForMs(count("KEY", 11), now)).toBe(30_000);
  expect(throttledForMs(count("ADDRESS", 20), now)).toBe(0);
  expect(throttledForMs(count("ADDRESS", 21), now)).toBe(30_000);
  expect(throttledForMs(count("ADDRESS", 21), windowEndsAt)).toBe(0);
  expect(throttledForMs([], now)).toBe(0);
});
