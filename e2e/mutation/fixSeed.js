// Property tests draw the same values in each run, so a mutant has the same end in each run.
const { configureGlobal } = require("fast-check");

configureGlobal({ seed: 1 });
