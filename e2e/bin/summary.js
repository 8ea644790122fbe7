// What the test run's results come to. CommonJS, so that jest can load it too.
const { relative } = require("node:path");

/** One stage that is a single command. */
function commandResult(exitCode) {
  return exitCode === 0 ? { passed: 1, failed: 0, skipped: [] } : { passed: 0, failed: 1, skipped: [] };
}

/**
 * One run of jest, from its exit code and its JSON report (undefined when it wrote none). A suite that failed to start counts as a
 * failure, as does a run without any test, and an exit code that no failed test explains.
 */
function jestResult(exitCode, report) {
  if (report === undefined)
    return { passed: 0, failed: 1, skipped: [], problem: "jest did not get as far as a report" };
  const passed = report.numPassedTests;
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
  const skipped = skippedOf(report);
  if (passed + failed === 0) {
    const problem = skipped.length > 0 ? "every test was skipped" : "no test was found";
    return { passed, failed: 1, skipped, problem };
  }
  if (failed === 0 && exitCode !== 0)
    return { passed, failed: 1, skipped, problem: `jest ended with exit code ${exitCode}` };
  return { passed, failed, skipped };
}

/** What jest calls pending was skipped; what is still to do was not tried either. */
function skippedOf({ testResults }) {
  return testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === "pending" || status === "todo")
      .map(({ fullName }) => ({ file, test: fullName })),
  );
}

/** For a machine that is meant to have everything: what was skipped failed. */
function withoutSkips(result) {
  if (result.skipped.length === 0) return result;
  const problem = result.problem ?? "a skip is a failure here (WONRAIL_TEST_COMPLETE)";
  return { ...result, failed: result.failed + result.skipped.length, problem };
}

/** Which tests were skipped, why as far as they said it, and how many, in the line above the total. */
function skippedLines(results, reasons, root) {
  const skipped = results.flatMap((result) => result.skipped);
  if (skipped.length === 0) return [];
  const files = new Map();
  for (const { file, test } of skipped) files.set(file, [...(files.get(file) ?? []), test]);
  return [
    ...[...files].map(([file, tests]) => {
      const which = tests.length === 1 ? tests[0] : `${tests.length} tests`;
      return `     skipped: ${relative(root, file)}: ${which}`;
    }),
    ...reasons.map((why) => `     why: ${why}`),
    "",
    `${skipped.length} skipped; CONTRIBUTING.md says what a machine needs to try everything`,
  ];
}

/** The last line of a run. Programs read it, so what was skipped is not in it. Nothing else prints one like it. */
function totalLine(results) {
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  return `${sum("passed")} passed, ${sum("failed")} failed`;
}

/** The table above it. */
function stageLine({ name, passed, failed, skipped, problem, durationMs }) {
  const seconds = `${(durationMs / 1000).toFixed(1)} s`.padStart(8);
  const counts = `${String(passed).padStart(5)} passed ${String(failed).padStart(4)} failed`;
  const notRun = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
  const why = problem ? `   ${problem}` : "";
  return `${failed === 0 ? "ok  " : "FAIL"} ${name.padEnd(10)} ${seconds} ${counts}${notRun}${why}`;
}

module.exports = { commandResult, jestResult, withoutSkips, skippedLines, totalLine, stageLine };
