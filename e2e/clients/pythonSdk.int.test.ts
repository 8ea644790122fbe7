import { join } from "node:path";
import { reportSkipped } from "../support/reportSkipped";
import { cacheFolder } from "./cacheFolder";
import { findPython } from "./python";
import { run } from "./run";

// The tests of sdk/python, which pytest and mypy run.

jest.setTimeout(300_000);

const PACKAGE = join(__dirname, "../../sdk/python");
const python = findPython();
if (!python.ok) reportSkipped(`the Python client is not tested, ${python.why}`);
const withPython = python.ok ? test : test.skip;

function runModule(...args: string[]): string {
  if (!python.ok) throw new Error(python.why);
  const env = { PYTHONDONTWRITEBYTECODE: "1" };
  const { ok, output } = run(python.command, ["-m", ...args], { cwd: PACKAGE, env });
  if (!ok) throw new Error(output);
  return output;
}

withPython("pytest passes all tests of the Python client", () => {
  expect(runModule("pytest", "--quiet")).toMatch(/^\d{2,} passed in /m);
});

withPython("mypy finds the types of the Python client strict and complete", () => {
  expect(runModule("mypy", "--cache-dir", cacheFolder("mypy"))).toMatch(/^Success: no issues found/m);
});
