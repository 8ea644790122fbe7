// What the test run's results come to. CommonJS, so that jest can load it too.

/** One stage that is a single command. */
function commandResult(exitCode) {
  return exitCode === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/**
 * One run of jest, from its exit code and its JSON report (undefined when it wrote none). A suite that failed to start counts as a
 * failure, as does a run without any test, and an exit code that no failed test explains.
 */
function jestResult(exitCode, report) {
  if (report === undefined) return { passed: 0, failed: 1, problem: "jest did not get as far as a report" };
  const passed = report.numPassedTests;
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
  if (passed + failed === 0) return { passed, failed: 1, problem: "no test was found" };
  if (failed === 0 && exitCode !== 0)
    return { passed, failed: 1, problem: `jest ended with exit code ${exitCode}` };
  return { passed, failed };
}

/** The last line of a run. Nothing else prints one like it. */
function totalLine(results) {
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  return `${sum("passed")} passed, ${sum("failed")} failed`;
}

/** The table above it. */
function stageLine({ name, passed, failed, problem, durationMs }) {
  const seconds = `${(durationMs / 1000).toFixed(1)} s`.padStart(8);
  const counts = `${String(passed).padStart(5)} passed ${String(failed).padStart(4)} failed`;
  return `${failed === 0 ? "ok  " : "FAIL"} ${name.padEnd(10)} ${seconds} ${counts}${problem ? `   ${problem}` : ""}`;
}

module.exports = { commandResult, jestResult, totalLine, stageLine };
