import { isUserId, normalizeUserId } from "./userId";

test.each<[string, string, boolean]>([
  ["an empty string", "", false],
  ["one character", "u", true],
  ["128 characters", "u".repeat(128), true],
  ["129 characters", "u".repeat(129), false],
  ["128 emoji", "🐳".repeat(128), true],
  ["129 emoji", "🐳".repeat(129), false],
  ["128 syllables of three jamo each", "각".normalize("NFD").repeat(128), true],
  ["a space between two words", "김 리", true],
  ["a leading space", " kim", false],
  ["a trailing ideographic space", "kim\u3000", false],
  ["a tab", "kim\tlee", false],
  ["a NUL", "kim\0", false],
  ["a next-line control character", "kim\u0085", false],
  ["a zero-width space", "kim\u200blee", false],
  ["a zero-width joiner", "kim\u200dlee", false],
  ["a byte order mark", "\ufeffkim", false],
  ["a soft hyphen", "kim\u00adlee", false],
  ["a Hangul filler", "kim\u3164", false],
  ["a right-to-left override", "kim\u202elee", false],
  ["a bidirectional isolate", "kim\u2066lee", false],
  ["a line separator", "kim\u2028lee", false],
  ["a lone surrogate", "kim\ud800", false],
])("isUserId judges %s correctly", (_, text, good) => expect(isUserId(text)).toBe(good));

test("normalizeUserId unifies two encodings of the same letters", () => {
  for (const text of ["각", "José"]) {
    expect(normalizeUserId(text.normalize("NFD"))).toBe(text);
    expect(text.normalize("NFD")).not.toBe(text);
  }
});
