/**
 * Stages of the checks, fastest first. A stage is a command, which passes or fails as one, or a
 * jest run, whose tests count singly. `whole` are options of a complete run. An `aside` stage runs
 * beside later ones, so it starts early; an `alone` stage waits until it has ended.
 */

const npx = (...args) => ["npx", "--no-install", ...args];
const jest = (project, ...args) => ["--selectProjects", project, ...args];

/** Money rules need full branch coverage, except for unreachable branches. */
const coverage = [
  ["--coverage", "--coverageReporters=text-summary", "--coverageDirectory=coverage/unit"],
  ["--collectCoverageFrom=services/ledger/src/domain/*.ts", '--coverageThreshold={"global":{"branches":95}}'],
].flat();

export const STAGES = [
  { name: "contracts", command: ["node", "contracts/bin/test.mjs"], aside: true },
  { name: "site", command: ["node", "docs/bin/build.mjs"], aside: true },
  { name: "types", command: ["node", "deploy/local/bin/build.mjs"] },
  { name: "tidy", jest: jest("unit", "--testPathPatterns", "/tidy\\.test\\.ts$") },
  { name: "prose", command: ["node", "e2e/dist/prose/main.js"] },
  { name: "words", command: ["node", "e2e/dist/words/main.js"] },
  { name: "lint", command: npx("oxlint") },
  { name: "format", command: npx("oxfmt", "--check") },
  { name: "proto", command: ["npm", "run", "lint", "--silent", "-w", "@wonrail/proto"] },
  { name: "openapi", command: ["npm", "run", "lint", "--silent", "-w", "@wonrail/gateway"] },
  {
    name: "unit",
    jest: jest("unit", "--maxWorkers=100%", "--testPathPatterns", "^(?!.*tidy\\.test\\.ts$)"),
    whole: coverage,
  },
  // A third of their time is a wait for leases and blocks, so three workers keep two cores busy.
  { name: "int", jest: jest("int", "--maxWorkers=3"), alone: true },
  { name: "e2e", jest: jest("e2e", "--maxWorkers=2"), alone: true },
];

/** The stages that do no I/O but read the sources. */
export const FAST = ["site", "types", "tidy", "prose", "words", "lint", "format", "proto", "openapi", "unit"];
