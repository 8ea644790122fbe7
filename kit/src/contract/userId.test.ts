import { isUserId } from "./userId";

test.each<[string, string, boolean]>([
  ["nothing", "", false],
  ["one character", "u", true],
  ["128 characters", "u".repeat(128), true],
  ["129 characters", "u".repeat(129), false],
  ["128 emoji", "🐳".repeat(128), true],
  ["129 emoji", "🐳".repeat(129), false],
  ["spaces and another script", "김 리", true],
  ["a tab", "kim\tlee", false],
  ["a NUL", "kim\0", false],
  ["a control character of another kind", "kim\u0085", false],
])("%s", (_, text, good) => expect(isUserId(text)).toBe(good));
