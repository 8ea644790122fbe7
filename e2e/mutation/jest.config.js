const { join } = require("node:path");
const [{ displayName: _displayName, ...unit }] = require("../../jest.config.js").projects;

/**
 * The simulation of 100,000 operations is too slow for a run with each mutant. The other test reads
 * the source, which Stryker has changed.
 */
const LEFT_OUT = ["settlement/domain/simulation\\.test", "signingPolicy\\.mutations\\.test"];
const rootDir = join(__dirname, "../..");

// Stryker's configuration of jest: the unit tests of one service. Stryker loads this file from its
// copy of the repository.
module.exports = {
  ...unit,
  rootDir,
  // Stryker extends the environment, and finds it by its whole path only.
  testEnvironment: join(rootDir, "e2e/mutation/firstFailure.js"),
  runner: join(rootDir, "e2e/mutation/mutantRunner.js"),
  testSequencer: join(rootDir, "e2e/mutation/slowestLast.js"),
  testPathIgnorePatterns: [...unit.testPathIgnorePatterns, ...LEFT_OUT],
  roots: [`<rootDir>/services/${process.env.MUTATED_SERVICE}/src`],
  testTimeout: 120_000,
  setupFiles: ["<rootDir>/e2e/mutation/fixSeed.js"],
};
