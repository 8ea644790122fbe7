// Three projects by file name: x.test.ts does no I/O, x.int.test.ts uses real Postgres, bus and chain, x.e2e.test.ts a running stack.
const shared = {
  transform: { "^.+\\.ts$": ["@swc/jest", { jsc: { target: "es2023", parser: { syntax: "typescript" } }, module: { type: "commonjs" } }] },
  moduleNameMapper: { "^@wonrail/kit/(.*)$": "<rootDir>/kit/src/$1" },
  modulePathIgnorePatterns: ["<rootDir>/.*/dist/", "<rootDir>/.wonrail/"],
  roots: ["<rootDir>"],
  testEnvironment: "node",
};
const slow = ["\\.int\\.test\\.ts$", "\\.e2e\\.test\\.ts$"];

module.exports = {
  projects: [
    { ...shared, displayName: "unit", testMatch: ["**/*.test.ts"], testPathIgnorePatterns: ["/node_modules/", "/dist/", ...slow] },
    {
      ...shared,
      displayName: "int",
      testMatch: ["**/*.int.test.ts"],
      globalSetup: "<rootDir>/e2e/setup/startParts.js",
      globalTeardown: "<rootDir>/e2e/setup/stopParts.js",
    },
    { ...shared, displayName: "e2e", testMatch: ["**/*.e2e.test.ts"] },
  ],
};
