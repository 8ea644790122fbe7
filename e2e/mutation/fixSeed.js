// Property tests draw the same values in each run, so a mutant has the same end in each run. A
// mutant dies with the first failure, so no run looks for a smaller one.
const { configureGlobal } = require("fast-check");

configureGlobal({ seed: 1, endOnFailure: true });
