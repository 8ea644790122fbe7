// Summary of a test run. CommonJS, so that jest can load it too.
const { relative } = require("node:path");

/** Result of a stage that is a single command. */
function commandResult(exitCode) {
  return exitCode === 0 ? { passed: 1, failed: 0, skipped: [] } : { passed: 0, failed: 1, skipped: [] };
}

/**
 * Result of a jest run from its exit code and JSON report (undefined when absent). A suite that
 * failed to start counts as a failure. So do a run without tests and an exit code without a failed
 * test.
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

/** jest calls skipped tests pending; `todo` tests did not run either. */
function skippedOf({ testResults }) {
  return testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === "pending" || status === "todo")
      .map(({ fullName }) => ({ file, test: fullName })),
  );
}

/** Turns skips into failures, for machines that must run everything. */
function withoutSkips(result) {
  if (result.skipped.length === 0) return result;
  const problem = result.problem ?? "a skip is a failure here (WONRAIL_TEST_COMPLETE)";
  return { ...result, failed: result.failed + result.skipped.length, problem };
}

/** Lines with the skipped tests, the known reasons and the number, above the total. */
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

/**
 * The last line of a run, which programs parse. Skips are not in it, and no other line has its
 * form.
 */
function totalLine(results) {
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  return `${sum("passed")} passed, ${sum("failed")} failed`;
}

/** A line of the table above the total. */
function stageLine({ name, passed, failed, skipped, problem, durationMs }) {
  const seconds = `${(durationMs / 1000).toFixed(1)} s`.padStart(8);
  const counts = `${String(passed).padStart(5)} passed ${String(failed).padStart(4)} failed`;
  const notRun = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
  const why = problem ? `   ${problem}` : "";
  return `${failed === 0 ? "ok  " : "FAIL"} ${name.padEnd(10)} ${seconds} ${counts}${notRun}${why}`;
}

module.exports = { commandResult, jestResult, withoutSkips, skippedLines, totalLine, stageLine };
