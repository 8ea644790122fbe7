const SlowestFirst = require("../setup/slowestFirst.js");

/** A fast test that kills the mutant saves the run of the slow ones. */
module.exports = class SlowestLast extends SlowestFirst {
  async sort(tests) {
    return (await super.sort(tests)).toReversed();
  }
};
