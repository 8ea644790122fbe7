const SharedTypes = require("../setup/sharedTypes.js");

/** The names of the tests of each file, from the run without a mutant. */
const testNames = new Map();
/** The mutant that a test has killed last. Stryker runs all mutants in one process. */
let killed;

/**
 * The first failing test kills a mutant, so the other tests are skipped. Jest's own option for this
 * ends the process.
 */
module.exports = class FirstFailure extends SharedTypes {
  constructor(config, context) {
    super(config, context);
    this.testPath = context.testPath;
  }

  async handleTestEvent({ name, test }) {
    if (mutantId() === undefined && name === "test_start") noteTest(this.testPath, test);
    if (mutantId() === undefined) return;
    if (name === "test_done" && test.errors.length > 0) killed = mutantId();
    if (name === "test_start" && isKilled()) test.mode = "skip";
  }
};

/** True when a test of the file fits the pattern, and when the file is not known yet. */
module.exports.hasTestOf = (testPath, pattern) => {
  const names = testNames.get(testPath);
  return (
    pattern === undefined || names === undefined || names.some((name) => RegExp(pattern, "i").test(name))
  );
};

module.exports.isKilled = isKilled;

function isKilled() {
  return mutantId() !== undefined && killed === mutantId();
}

function mutantId() {
  return process.env.__STRYKER_ACTIVE_MUTANT__;
}

function noteTest(testPath, test) {
  testNames.set(testPath, [...(testNames.get(testPath) ?? []), nameOf(test)]);
}

/** The name with those of its `describe` blocks, as Jest's pattern sees it. */
function nameOf({ parent, name }) {
  return parent.parent === undefined ? name : `${nameOf(parent)} ${name}`;
}
