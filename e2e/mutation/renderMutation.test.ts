import { readMutants } from "./mutants";
import { readResult, renderResults, resultOf, scoreOf } from "./renderMutation";

const SOURCE = "export const a = (b) =>\n  b > 1;\n";
const at = (line: number, column: number) => ({ line, column });
const mutant = (status: string, replacement: string) => ({
  ...{ mutatorName: "EqualityOperator", replacement, status },
  location: { start: at(2, 3), end: at(2, 8) },
});
const MUTANTS = readMutants(
  JSON.stringify({
    files: {
      "services/auth/src/domain/a.ts": {
        source: SOURCE,
        mutants: [
          ...[mutant("Killed", "b < 1"), mutant("Timeout", "true"), mutant("RuntimeError", "b <= 1")],
          mutant("Ignored", "false"),
          ...[mutant("Survived", "b >= 1"), mutant("NoCoverage", "b || 1")],
        ],
      },
    },
  }),
);

test("a mutant has its place, its original text and its replacement", () => {
  const [{ line, original, replacement }] = MUTANTS as [(typeof MUTANTS)[0]];
  expect([line, original, replacement]).toEqual([2, "b > 1", "b < 1"]);
});

test("the text of an assertion needs no test, and its condition does", () => {
  const source = 'assert(state === "open", "is not open");';
  const text = (start: number, end: number) => ({
    ...{ mutatorName: "StringLiteral", replacement: '""', status: "Survived" },
    location: { start: at(1, start), end: at(1, end) },
  });
  const files = { "services/auth/src/domain/a.ts": { source, mutants: [text(18, 24), text(26, 39)] } };
  const { survivors } = resultOf("auth", readMutants(JSON.stringify({ files })));
  expect(survivors).toEqual([
    '| auth/domain/a.ts:1 | `` "open" `` → `` "" `` | a test is missing |',
    expect.stringContaining("| the text of a programming error"),
  ]);
});

test("the score counts endless and unloadable tests as killed, and leaves out what did not run", () => {
  expect(scoreOf([resultOf("auth", MUTANTS)])).toBe(0.6);
});

test("the page lists the score of each service and each mutant that no test killed", () => {
  const written = renderResults([resultOf("auth", MUTANTS)]);
  expect(written).toContain("| auth | 5 | 3 | 2 | 60.0 % |");
  expect(written).toContain("| auth/domain/a.ts:2 | `` b > 1 `` → `` b >= 1 `` | a test is missing |");
  expect(written).toContain("`` b \\|\\| 1 ``");
});

test("the page keeps the result of a service that has not run again", () => {
  const results = [resultOf("auth", MUTANTS), { service: "wallet", killed: 7, survived: 0, survivors: [] }];
  const page = renderResults(results);
  expect(["auth", "wallet"].map((service) => readResult(page, service))).toEqual(results);
  expect(readResult(page, "ledger")).toBeUndefined();
});
