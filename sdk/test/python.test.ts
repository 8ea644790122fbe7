import { readFileSync } from "node:fs";
import { join } from "node:path";
import { operations } from "../bin/python/document.ts";
import { pythonFiles } from "../bin/python/index.ts";
import { VERSION } from "../src/internal/version.ts";

const PYTHON = join(__dirname, "../python");

test.each(Object.entries(pythonFiles))(
  "%s equals the OpenAPI document; if not, run npm run docs",
  (path, render) => {
    expect(readFileSync(join(__dirname, "..", path), "utf8")).toBe(render());
  },
);

test("the Python client has a method for each operation", () => {
  const resources = readFileSync(join(PYTHON, "src/wonrail/_resources.py"), "utf8");
  const methods = [...resources.matchAll(/^ {4}def (\w+)\(/gm)].filter(([, name]) => name !== "__init__");
  expect(methods).toHaveLength(operations.length);
  expect(operations.length).toBeGreaterThan(50);
});

test("the Python package has the version of its code and of the TypeScript package", () => {
  const project = readFileSync(join(PYTHON, "pyproject.toml"), "utf8");
  const code = readFileSync(join(PYTHON, "src/wonrail/_version.py"), "utf8");
  expect(/^version = "(.*)"$/m.exec(project)?.[1]).toBe(VERSION);
  expect(/^VERSION = "(.*)"$/m.exec(code)?.[1]).toBe(VERSION);
});
