require("./e2e/setup/inMemory.js");

// Three projects by file name: x.test.ts does no I/O, x.int.test.ts uses real Postgres, bus and
// chain, x.e2e.test.ts a running stack. x.deep.test.ts takes too long for every run: `make faults`
// runs it.
const shared = {
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { target: "es2023", parser: { syntax: "typescript" } }, module: { type: "commonjs" } },
    ],
  },
  // Tests run on the sources, so that a change is tested without a build.
  moduleNameMapper: {
    "^@wonrail/(kit|gateway)/(.*)$": "<rootDir>/$1/src/$2",
    "^@wonrail/(auth|wallet|ledger|payment|chain-relayer|events)/(.*)$": "<rootDir>/services/$1/src/$2",
    "^@wonrail/console/(.*)$": "<rootDir>/console/server/src/$1",
    "^@wonrail/local/(.*)$": "<rootDir>/deploy/local/src/$1",
  },
  modulePathIgnorePatterns: ["<rootDir>/.*/dist/", "<rootDir>/.wonrail/", "<rootDir>/.cache/"],
  roots: ["<rootDir>"],
  testEnvironment: "<rootDir>/e2e/setup/sharedTypes.js",
  runtime: "<rootDir>/e2e/setup/sharedPackages.js",
};
const slow = ["\\.int\\.test\\.ts$", "\\.e2e\\.test\\.ts$", "\\.deep\\.test\\.ts$"];
const deep = process.env.WONRAIL_DEEP === undefined ? [] : ["**/*.deep.test.ts"];

module.exports = {
  // Long enough for a machine at a tenth of its speed; a hanging test is found later.
  testTimeout: 120_000,
  // A test file leaves some memory behind, and a full heap makes a worker slow.
  workerIdleMemoryLimit: "500MB",
  testSequencer: "<rootDir>/e2e/setup/slowestFirst.js",
  projects: [
    {
      ...shared,
      displayName: "unit",
      testMatch: ["**/*.test.ts"],
      testPathIgnorePatterns: ["/node_modules/", "/dist/", "/\\.cache/", ...slow],
    },
    {
      ...shared,
      displayName: "int",
      testMatch: ["**/*.int.test.ts", ...deep],
      globalSetup: "<rootDir>/e2e/setup/startParts.js",
      globalTeardown: "<rootDir>/e2e/setup/stopParts.js",
    },
    {
      ...shared,
      displayName: "e2e",
      testMatch: ["**/*.e2e.test.ts"],
      globalSetup: "<rootDir>/e2e/setup/keepStack.js",
      globalTeardown: "<rootDir>/e2e/setup/stopStack.js",
    },
  ],
};
