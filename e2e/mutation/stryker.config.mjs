import { tmpdir } from "node:os";
import { join } from "node:path";

const service = process.env.MUTATED_SERVICE;
const reports = ".cache/mutation";
// A tenth of the values of the ledger's longest property tests: each mutant runs them again.
process.env.LEDGER_TEST_SHARE ??= "0.1";

/** Stryker mutates the pure rules of one service, and runs the service's unit tests. */
export default {
  testRunner: "jest",
  plugins: ["@stryker-mutator/jest-runner"],
  jest: { projectType: "custom", configFile: "e2e/mutation/jest.config.js" },
  coverageAnalysis: "perTest",
  mutate: [`services/${service}/src/**/domain/*.ts`, "!**/*.test.ts"],
  // Test files also call rules while they load, and such a call belongs to no test. So a mutant of
  // a constant, or of a rule that is called then, runs all tests that import the file.
  ignoreStatic: false,
  concurrency: 1,
  timeoutMS: 60_000,
  dryRunTimeoutMinutes: 15,
  incremental: true,
  incrementalFile: `${reports}/${service}.incremental.json`,
  reporters: ["json", "progress-append-only"],
  jsonReporter: { fileName: `${reports}/${service}.json` },
  tempDirName: join(tmpdir(), "wonrail-mutation"),
  ignorePatterns: ["/console", "/contracts", "/docs", "/helm", "/sdk", "dist", ".cache", ".wonrail"],
  // Stryker skips its steps for TypeScript, because swc compiles the tests.
  tsconfigFile: "none",
  disableTypeChecks: false,
};
