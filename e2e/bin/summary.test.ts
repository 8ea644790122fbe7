import { commandResult, jestResult, skippedLines, stageLine, totalLine, withoutSkips } from "./summary";

const report = (passed: number, failed: number, brokenSuites = 0) => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numRuntimeErrorTestSuites: brokenSuites,
  testResults: [suite("some", [["passes", "passed"]])],
});
const suite = (name: string, tests: [fullName: string, status: string][]) => ({
  name: `/src/${name}.test.ts`,
  assertionResults: tests.map(([fullName, status]) => ({ fullName, status })),
});
/** As on a machine without promtool: twelve passed, three were not run. */
const incomplete = {
  ...report(12, 0),
  testResults: [
    suite("rules", [
      ["promtool accepts the rules", "pending"],
      ["each alert fires", "pending"],
      ["the rules are there", "passed"],
    ]),
    suite("chart", [["helm 3 renders the same", "todo"]]),
  ],
};

test("a command counts as one test, by its exit code", () => {
  expect(commandResult(0)).toEqual({ passed: 1, failed: 0, skipped: [] });
  expect(commandResult(2)).toEqual({ passed: 0, failed: 1, skipped: [] });
});

test("a jest run counts each test", () => {
  expect(jestResult(0, report(12, 0))).toEqual({ passed: 12, failed: 0, skipped: [] });
  expect(jestResult(1, report(11, 1))).toEqual({ passed: 11, failed: 1, skipped: [] });
});

test("a suite that failed to start counts as a failure", () => {
  expect(jestResult(1, report(12, 0, 1))).toEqual({ passed: 12, failed: 1, skipped: [] });
});

test("a run without any test fails", () => {
  const problem = "no test was found";
  expect(jestResult(0, report(0, 0))).toEqual({ passed: 0, failed: 1, skipped: [], problem });
});

test("a run without a report fails, whatever its exit code", () => {
  expect(jestResult(0, undefined).failed).toBe(1);
});

test("a bad exit code without a failed test fails the run", () => {
  const result = jestResult(1, report(12, 0));
  const problem = "jest ended with exit code 1";
  expect(result).toEqual({ passed: 12, failed: 1, skipped: [], problem });
});

test("the last line is the sum, and each stage line holds name, time and counts", () => {
  expect(totalLine([commandResult(0), jestResult(1, report(11, 1))])).toBe("12 passed, 1 failed");
  expect(stageLine({ name: "unit", passed: 11, failed: 1, skipped: [], durationMs: 1234 })).toBe(
    "FAIL unit          1.2 s    11 passed    1 failed",
  );
});

test("skipped tests are listed by file with reasons and counted in the stage line", () => {
  const results = [commandResult(0), jestResult(0, incomplete)];
  expect(skippedLines(results, ["promtool is absent"], "/src")).toEqual([
    "     skipped: rules.test.ts: 2 tests",
    "     skipped: chart.test.ts: helm 3 renders the same",
    "     why: promtool is absent",
    "",
    "3 skipped; CONTRIBUTING.md says what a machine needs to try everything",
  ]);
  expect(stageLine({ name: "int", ...results[1]!, durationMs: 1234 })).toBe(
    "ok   int           1.2 s    12 passed    0 failed, 3 skipped",
  );
  expect(totalLine(results)).toBe("13 passed, 0 failed");
});

test("a run without skips prints no skip lines", () => {
  expect(skippedLines([commandResult(0), jestResult(0, report(12, 0))], [], "/src")).toEqual([]);
});

test("a run that skips every test fails", () => {
  const result = jestResult(0, { ...incomplete, numPassedTests: 0 });
  expect(result).toMatchObject({ passed: 0, failed: 1, problem: "every test was skipped" });
});

test("WONRAIL_TEST_COMPLETE turns each skipped test into a failure", () => {
  const result = withoutSkips(jestResult(0, incomplete));
  expect(result).toMatchObject({ passed: 12, failed: 3 });
  expect(result.problem).toContain("WONRAIL_TEST_COMPLETE");
  expect(withoutSkips(jestResult(0, report(12, 0)))).toEqual({ passed: 12, failed: 0, skipped: [] });
});
