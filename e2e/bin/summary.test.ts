import { commandResult, jestResult, stageLine, totalLine } from "./summary";

const report = (passed: number, failed: number, brokenSuites = 0) => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numRuntimeErrorTestSuites: brokenSuites,
});

test("a command counts as one, by its exit code", () => {
  expect(commandResult(0)).toEqual({ passed: 1, failed: 0 });
  expect(commandResult(2)).toEqual({ passed: 0, failed: 1 });
});

test("every test of a jest run counts", () => {
  expect(jestResult(0, report(12, 0))).toEqual({ passed: 12, failed: 0 });
  expect(jestResult(1, report(11, 1))).toEqual({ passed: 11, failed: 1 });
});

test("a suite that failed to start is a failure", () => {
  expect(jestResult(1, report(12, 0, 1))).toEqual({ passed: 12, failed: 1 });
});

test("a run without any test is a failure", () => {
  expect(jestResult(0, report(0, 0))).toEqual({ passed: 0, failed: 1, problem: "no test was found" });
});

test("a run that wrote no report is a failure, whatever its exit code", () => {
  expect(jestResult(0, undefined).failed).toBe(1);
});

test("a bad exit code that no failed test explains is a failure", () => {
  const result = jestResult(1, report(12, 0));
  expect(result).toEqual({ passed: 12, failed: 1, problem: "jest ended with exit code 1" });
});

test("the last line is the sum, and the table names the stage, its time and its counts", () => {
  expect(totalLine([commandResult(0), jestResult(1, report(11, 1))])).toBe("12 passed, 1 failed");
  expect(stageLine({ name: "unit", passed: 11, failed: 1, durationMs: 1234 })).toBe(
    "FAIL unit          1.2 s    11 passed    1 failed",
  );
});
