const { createRequire } = require("node:module");
const Runtime = require("jest-runtime").default;

/**
 * Large packages without state that tests change. Jest evaluates every other module anew for each
 * test file, which took half of the processor time of the integration tests.
 */
const SHARED = [
  ...["@bufbuild/protobuf", "@grpc/grpc-js", "@grpc/proto-loader", "@grpc/reflection", "@noble/hashes"],
  ...["@wonrail/proto", "ajv", "ethers", "fast-check", "pg", "prom-client", "typescript"],
  ...["yaml", "zod"],
  // ES modules, which only Node's own `require` loads.
  ...["oidc-provider", "openid-client"],
];

/** Tests that change a shared package, and so load packages of their own. */
const ALONE = ["kit/src/grpc/silentReplica.int.test.ts"];

/** Jest's runtime, which loads the shared packages once per worker, by Node's own `require`. */
module.exports = class SharedPackages extends Runtime {
  constructor(...args) {
    super(...args);
    const testPath = args[6];
    this.isAlone = ALONE.some((name) => testPath.endsWith(name));
  }

  requireModule(from, moduleName, ...rest) {
    if (!this.isAlone && SHARED.some((name) => moduleName === name || moduleName?.startsWith(`${name}/`)))
      return createRequire(from)(moduleName);
    return super.requireModule(from, moduleName, ...rest);
  }
};
