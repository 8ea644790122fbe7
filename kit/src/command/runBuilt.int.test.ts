import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const RUN_BUILT = pathToFileURL(join(__dirname, "../../bin/runBuilt.mjs")).href;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "wonrail-built-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  [1, "whose main says so", "exports.main = async ([code]) => Number(code)", ""],
  [2, "that nobody expected to fail", "exports.main = async () => [].at(0).x", "TypeError"],
  [2, "that lacks a part of itself", "require('./nowhere.js')", "Cannot find module"],
  [2, "that is not built", undefined, "Run npm run build first"],
])("ends with %d for a command %s", (code, _which, source, sentence) => {
  const file = join(folder, `${Math.random()}.cjs`);
  if (source !== undefined) writeFileSync(file, source);
  const script = `(await import("${RUN_BUILT}")).runBuilt(new URL("${pathToFileURL(file).href}"))`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script, "bin", "1"], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: code, stderr: expect.stringContaining(sentence) });
});
