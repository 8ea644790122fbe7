import { readMutants, scoreOf } from "./mutants";
import { renderResults } from "./renderMutation";

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

test("the score counts endless and unloadable tests as killed, and leaves out what did not run", () => {
  expect(scoreOf(MUTANTS)).toBe(0.6);
});

test("the page lists the score of each service and each mutant that no test killed", () => {
  const written = renderResults([{ service: "auth", mutants: MUTANTS }]);
  expect(written).toContain("| auth | 5 | 3 | 2 | 60.0 % |");
  expect(written).toContain("| auth/domain/a.ts:2 | `` b > 1 `` → `` b >= 1 `` | a test is missing |");
  expect(written).toContain("`` b \\|\\| 1 ``");
});
