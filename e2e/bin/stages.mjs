/**
 * Everything that a change has to pass, one line each, in the order of how soon it tells. A stage is a command, which passes or fails as
 * one, or a run of jest, of which every test counts; `whole` is what a run of all its tests is given besides. What is `aside` runs beside those after it,
 * so it comes as early as it can, and what is `alone` waits until that has ended.
 */

/** What did not change since it was last found good is not looked at again; a fresh clone looks at everything. */
const cached = (name) => ["--cache", "--cache-location", `.cache/${name}`];
const npx = (...args) => ["npx", "--no-install", ...args];
const jest = (project, ...args) => ["--selectProjects", project, ...args];

/** What decides about money is tested in every branch, but for what cannot happen. */
const coverage = [
  ["--coverage", "--coverageReporters=text-summary", "--coverageDirectory=coverage/unit"],
  ["--collectCoverageFrom=services/ledger/src/domain/*.ts", '--coverageThreshold={"global":{"branches":95}}'],
].flat();

export const STAGES = [
  { name: "contracts", command: ["node", "contracts/bin/test.mjs"], aside: true },
  { name: "types", command: ["node", "deploy/local/bin/build.mjs"] },
  { name: "tidy", jest: jest("unit", "--testPathPatterns", "/tidy\\.test\\.ts$") },
  { name: "prose", command: ["node", "e2e/dist/prose/main.js"] },
  { name: "words", command: ["node", "e2e/dist/words/main.js"] },
  { name: "lint", command: npx("eslint", ".", "--max-warnings", "0", ...cached("eslint")), aside: true },
  { name: "format", command: npx("prettier", "--check", "--log-level", "warn", ".", ...cached("prettier")) },
  { name: "proto", command: ["npm", "run", "lint", "--silent", "-w", "@wonrail/proto"] },
  { name: "openapi", command: ["npm", "run", "lint", "--silent", "-w", "@wonrail/gateway"] },
  {
    name: "unit",
    jest: jest("unit", "--maxWorkers=100%", "--testPathPatterns", "^(?!.*tidy\\.test\\.ts$)"),
    whole: coverage,
  },
  // A third of their time is spent waiting, for a lease or a block: three on two cores.
  { name: "int", jest: jest("int", "--maxWorkers=3"), alone: true },
  { name: "e2e", jest: jest("e2e", "--maxWorkers=2"), alone: true },
];

/** What does no I/O beyond reading the sources. */
export const FAST = ["types", "tidy", "prose", "words", "lint", "format", "proto", "openapi", "unit"];
