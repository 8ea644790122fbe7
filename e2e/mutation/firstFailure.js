const SharedTypes = require("../setup/sharedTypes.js");

/** The mutant that a test has killed. Stryker runs all mutants in one process. */
let killed;

/**
 * The first failing test kills a mutant, so the other tests are skipped. Jest's own option for this
 * ends the process.
 */
module.exports = class FirstFailure extends SharedTypes {
  async handleTestEvent({ name, test }) {
    const mutant = process.env.__STRYKER_ACTIVE_MUTANT__;
    if (mutant === undefined) return;
    if (name === "test_done" && test.errors.length > 0) killed = mutant;
    if (name === "test_start" && killed === mutant) test.mode = "skip";
  }
};
