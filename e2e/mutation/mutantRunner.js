const Runner = require("jest-runner").default;
const { hasTestOf, isKilled } = require("./firstFailure.js");

/** Loads only test files that cover the mutant, until a test kills the mutant. */
module.exports = class MutantRunner extends Runner {
  constructor(globalConfig, context) {
    super(globalConfig, context);
    this.pattern = globalConfig.testNamePattern;
  }

  async runTests(tests, watcher, options) {
    for (const test of tests)
      if (!isKilled() && hasTestOf(test.path, this.pattern)) await super.runTests([test], watcher, options);
  }
};
