#!/usr/bin/env node
// Tests of the contracts that need no other part of the stack. Two jobs run at a time: the tests,
// and the rest. --deep runs the random tests for minutes instead of seconds.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { forge, home } from "../tools/foundry.mjs";

const deep = process.argv.includes("--deep");
const depth = deep ? { FOUNDRY_FUZZ_RUNS: "20000", FOUNDRY_INVARIANT_RUNS: "20000" } : {};

// Coverage compiles without the optimizer, so it needs its own output folder.
const coverageArgs = [
  "coverage",
  "--report",
  "summary",
  "--out",
  "out/coverage",
  "--cache-path",
  "cache/coverage",
];
const selection = ["--no-match-contract", "InvariantsTest", "--fuzz-runs", "64"];

const checks = [
  [
    { name: "artifacts are what the sources compile to", check: () => script("compile.mjs") },
    { name: "formatting", check: () => forge(["fmt", "--check"]) },
    { name: "gas is as recorded and within limits", check: () => script("gas.mjs") },
    { name: "every line and branch is covered", check: checkCoverage },
  ],
  [{ name: "unit, fuzz and invariant tests", check: checkTests }],
];

const failed = (await Promise.all(checks.map(inTurn))).flat().filter((passed) => !passed);
process.exitCode = failed.length > 0 ? 1 : 0;

async function inTurn(list) {
  const results = [];
  for (const { name, check } of list) {
    const start = Date.now();
    const { code, output, note } = await check();
    const seconds = ((Date.now() - start) / 1000).toFixed(1);
    console.log(`${code === 0 ? "ok  " : "FAIL"} ${name}${note ? ` (${note})` : ""}  ${seconds} s`);
    if (code !== 0) console.log(output.trimEnd());
    results.push(code === 0);
  }
  return results;
}

async function checkTests() {
  const result = await forge(["test"], { env: depth });
  const tests = /([0-9]+) tests passed/.exec(result.output)?.[1];
  const calls = /calls: ([0-9]+)/.exec(result.output)?.[1];
  if (result.code === 0 && !(tests && calls)) return { ...result, code: 1 };
  return {
    ...result,
    note: result.code === 0 ? `${tests} tests, ${calls} calls of the invariant run` : undefined,
  };
}

async function checkCoverage() {
  const result = await forge([...coverageArgs, ...selection], { env: { CONTRACTS_FROM_SOURCE: "true" } });
  const rows = result.output.split("\n").filter((line) => line.startsWith("| src/"));
  const whole = rows.filter((line) => line.match(/100\.00%/g)?.length === 4);
  if (result.code === 0 && (rows.length === 0 || whole.length < rows.length)) {
    return { code: 1, output: `${rows.join("\n")}\n` };
  }
  return { ...result, note: result.code === 0 ? `${rows.length} files` : undefined };
}

function script(file) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(home, "bin", file), "--check"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (text) => (output += text));
    child.stderr.on("data", (text) => (output += text));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
