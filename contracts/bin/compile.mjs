#!/usr/bin/env node
// Compiles src/ with the solc from npm and writes artifacts/. With --check it writes nothing, and
// fails when the committed artifacts differ from the sources' bytes.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const solc = require("solc");

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const contracts = ["WonToken", "PaymentManager"];

// No metadata hash: it would make the bytes depend on comments and paths. Cancun is the first
// version with transient storage, which the manager's guard uses.
const settings = {
  evmVersion: "cancun",
  viaIR: true,
  optimizer: { enabled: true, runs: 1_000_000 },
  metadata: { bytecodeHash: "none", appendCBOR: false },
};

function compile() {
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(
      contracts.map((name) => [`src/${name}.sol`, { content: source(`src/${name}.sol`) }]),
    ),
    settings: {
      ...settings,
      outputSelection: Object.fromEntries(
        contracts.map((name) => [
          `src/${name}.sol`,
          { [name]: ["abi", "evm.bytecode.object", "evm.deployedBytecode"] },
        ]),
      ),
    },
  };
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), { import: (path) => ({ contents: source(path) }) }),
  );
  const failures = (output.errors ?? []).filter((problem) => problem.severity === "error");
  if (failures.length > 0) throw new Error(failures.map((problem) => problem.formattedMessage).join("\n"));
  return contracts.map((name) => artifact(name, output.contracts[`src/${name}.sol`][name]));
}

function source(path) {
  return readFileSync(path.startsWith("@") ? require.resolve(path) : join(home, path), "utf8");
}

function artifact(name, { abi, evm }) {
  return {
    contractName: name,
    compiler: { version: solc.version(), ...settings },
    abi,
    bytecode: `0x${evm.bytecode.object}`,
    deployedBytecode: `0x${evm.deployedBytecode.object}`,
    // Positions of values that the constructor sets. A comparison with the chain ignores these
    // bytes.
    immutableBytes: Object.values(evm.deployedBytecode.immutableReferences).flat(),
  };
}

function main() {
  const check = process.argv.includes("--check");
  mkdirSync(join(home, "artifacts"), { recursive: true });
  const stale = [];
  for (const compiled of compile()) {
    const file = join(home, "artifacts", `${compiled.contractName}.json`);
    const text = JSON.stringify(compiled, null, 2) + "\n";
    if (!check) writeFileSync(file, text);
    else if (readFileSync(file, "utf8") !== text) stale.push(compiled.contractName);
  }
  if (stale.length > 0) {
    console.error(
      `artifacts differ from what the sources compile to: ${stale.join(", ")}. Run: npm run compile -w @wonrail/contracts`,
    );
    process.exitCode = 1;
  }
}

main();
