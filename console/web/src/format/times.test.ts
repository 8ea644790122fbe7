import { formatAge, formatSeconds, formatTime } from "./times";

test("a time is written with its zone", () => {
  expect(formatTime("2026-11-27T22:15:36.789Z", "Asia/Seoul")).toBe("2026-11-28 07:15:36 GMT+9");
  expect(formatTime("2026-11-27T00:05:09Z", "UTC")).toBe("2026-11-27 00:05:09 UTC");
});

test("an absent or malformed time is a dash", () => {
  expect([formatTime(undefined), formatTime("yesterday")]).toEqual(["—", "—"]);
});

test.each([
  [0, "0 s"],
  [59.6, "1 min"],
  [200, "3 min 20 s"],
  [3600, "1 h"],
  ["7500", "2 h 5 min"],
  [4 * 86_400 + 3 * 3_600 + 59, "4 d 3 h"],
  [795 * 86_400, "2 y 65 d"],
  [undefined, "—"],
  [Infinity, "—"],
])("%s seconds are written as %s", (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});

test("an age is never negative", () => {
  const now = Date.parse("2026-11-27T22:00:00Z");
  expect(formatAge("2026-11-27T21:58:30Z", now)).toBe("1 min 30 s");
  expect(formatAge("2026-11-27T22:00:05Z", now)).toBe("0 s");
});
