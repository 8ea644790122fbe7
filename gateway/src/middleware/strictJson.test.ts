import fc from "fast-check";
import { JsonRefusedError, MAX_DEPTH, parseStrictJson } from "./strictJson";

const nest = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe("JSON that this API accepts", () => {
  test("is read as JSON.parse reads it", () => {
    const text = ' {"a": [1, -20, 0, true, false, null, ""], "b": {"c": "\\u00e9\\n\\"\\\\ 원"} } ';
    expect(parseStrictJson(text)).toEqual({ value: JSON.parse(text), problems: [] });
  });

  test("any storable document with whole numbers passes unchanged", () => {
    const text = fc.string({ unit: "binary", maxLength: 20 }).filter((s) => !/[\0\p{Surrogate}]/u.test(s));
    const key = text.filter((s) => !["__proto__", "constructor", "prototype"].includes(s));
    const { document } = fc.letrec((tie) => ({
      document: fc.oneof(
        { maxDepth: 5 },
        fc.oneof(
          fc.constant(null),
          fc.boolean(),
          fc.maxSafeInteger().map((n) => n + 0),
          text,
        ),
        fc.array(tie("document"), { maxLength: 5 }),
        fc.dictionary(key, tie("document"), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(document, fc.nat(4), (value, indent) => {
        const written = JSON.stringify(value, null, indent);
        expect(parseStrictJson(written)).toEqual({ value: JSON.parse(written), problems: [] });
      }),
      { numRuns: 500 },
    );
  });

  test("input that JSON.parse refuses is refused, and input that it accepts is never called malformed", () => {
    const soup = fc
      .array(fc.constantFrom(...'{}[]:,"\\u0d8 \n-+.eE1truefalsn'), { maxLength: 24 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(soup, (text) => {
        expect(isTaken(() => parseStrictJson(text))).toBe(isTaken(() => JSON.parse(text)));
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("input that JSON.parse accepts silently", () => {
  test.each<[string, string, string, string]>([
    ["a key given twice", '{"a":1,"a":2}', "a", "is given twice"],
    [
      "the same key, once written with an escape",
      '{"amount":1,"\\u0061mount":2}',
      "amount",
      "is given twice",
    ],
    ["a key given twice deep inside", '{"m":{"x":"1","x":"2"}}', "m.x", "is given twice"],
    ["__proto__", '{"__proto__":{}}', "__proto__", "is not a field"],
    ["__proto__ written with an escape", '{"__pr\\u006fto__":{}}', "__proto__", "is not a field"],
    [
      "constructor, deep inside",
      '{"metadata":{"constructor":"x"}}',
      "metadata.constructor",
      "is not a field",
    ],
    ["prototype", '[{"prototype":1}]', "[0].prototype", "is not a field"],
    ["an exponent", '{"amount":1e3}', "amount", "whole number in plain digits"],
    ["a point", '{"amount":1.0}', "amount", "whole number in plain digits"],
    ["an infinite number", '{"amount":1e400}', "amount", "whole number in plain digits"],
    ["a negative zero", '{"amount":-0}', "amount", "whole number in plain digits"],
    ["2^53 + 1", '{"amount":9007199254740993}', "amount", "too large to be an exact number"],
    ["2^53", '{"amount":9007199254740992}', "amount", "too large to be an exact number"],
    [
      "a number of a thousand digits",
      `{"amount":${"9".repeat(1000)}}`,
      "amount",
      "too large to be an exact number",
    ],
    ["half of a surrogate pair", '{"memo":"\\ud800"}', "memo", "half of a surrogate pair"],
    ["surrogates in the wrong order", '{"memo":"\\udc00\\ud800"}', "memo", "half of a surrogate pair"],
    ["a NUL", '{"memo":"a\\u0000b"}', "memo", "holds a NUL"],
    ["a NUL in a key", '{"a\\u0000":1}', "a\u{fffd}", "holds a NUL"],
  ])("%s is reported with its field", (_, text, path, message) => {
    expect(parseStrictJson(text).problems).toEqual([{ path, message: expect.stringContaining(message) }]);
  });

  test("up to twenty problems are reported at once", () => {
    expect(parseStrictJson('{"a":1.5,"a":2,"b":"\\ud800"}').problems).toHaveLength(3);
    expect(parseStrictJson(`[${"1.5,".repeat(99)}1.5]`).problems).toHaveLength(20);
  });

  test("a complete surrogate pair is accepted", () => {
    expect(parseStrictJson('"\\ud83d\\ude00"')).toEqual({ value: "😀", problems: [] });
  });
});

describe("oversized input", () => {
  test.each<[string, string, RegExp]>([
    ["200,000 levels", nest(200_000), /nested deeper/],
    ["200,000 levels that never close", '{"a":'.repeat(200_000), /nested deeper/],
    ["one level too many", nest(MAX_DEPTH + 1), /nested deeper/],
    ["101 items", `[${"1,".repeat(100)}1]`, /more than 100 items/],
    [
      "65 fields",
      JSON.stringify(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, 1]))),
      /more than 64/,
    ],
  ])("%s", (_, text, message) => {
    expect(() => parseStrictJson(text)).toThrow(message);
  });

  test("the deepest level that is accepted is accepted", () => {
    expect(parseStrictJson(nest(MAX_DEPTH)).problems).toEqual([]);
  });
});

test.each([
  "",
  " ",
  "nul",
  "tru",
  "{",
  "[1,]",
  '{"a":1,}',
  "{a:1}",
  "'a'",
  "01",
  "+1",
  "1 2",
  "NaN",
  "\u{feff}{}",
  '{"a" 1}',
  '"\\x"',
  '"\n"',
])("%j is refused as malformed JSON", (text) => {
  expect(() => parseStrictJson(text)).toThrow(JsonRefusedError);
});

test("a key with control characters is reported without them", () => {
  const [problem] = parseStrictJson(`{"\\u001b[31m${"x".repeat(100)}":1.5}`).problems;
  expect(problem!.path).toMatch(/^\u{fffd}\[31mx+…$/u);
});

test("a body of 64 KiB of quotes and backslashes takes no longer than an ordinary one", () => {
  const started = performance.now();
  parseStrictJson(JSON.stringify('\\"'.repeat(16_000)));
  expect(() => parseStrictJson(`"${"\\".repeat(64_000)}`)).toThrow(JsonRefusedError);
  expect(performance.now() - started).toBeLessThan(2_000);
});

function isTaken(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}
