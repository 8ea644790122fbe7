import { clockTimeMs, NO_CLOCKS, type SandboxClocks } from "./sandboxClock";

const clocks: SandboxClocks = new Map([
  [
    "org_a",
    [
      { atMs: 1_000, offsetMs: 50 },
      { atMs: 2_000, offsetMs: 700 },
    ],
  ],
]);

test.each([
  ["before the first advance", 999, 999],
  ["at the first advance", 1_000, 1_050],
  ["between two advances", 1_999, 2_049],
  ["after the last advance", 5_000, 5_700],
])("the clock shows the offset of its time %s", (_, realMs, shownMs) => {
  expect(clockTimeMs(clocks, "org_a", realMs)).toBe(shownMs);
});

test("an organisation without a clock has the real time", () => {
  expect(clockTimeMs(clocks, "org_b", 5_000)).toBe(5_000);
  expect(clockTimeMs(NO_CLOCKS, "org_a", 5_000)).toBe(5_000);
});
