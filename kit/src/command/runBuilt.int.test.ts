import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
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
  const { status, stderr } = spawnSync(process.execPath, argsOf(source), { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: code, stderr: expect.stringContaining(sentence) });
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)(
  "ends by itself on %s, with %d, whatever it waits for: nothing else ends the first process of a container",
  async (signal, code) => {
    const source = "exports.main = () => new Promise(() => setInterval(() => console.log('waits'), 50))";
    const child = spawn(process.execPath, argsOf(source));
    await once(child.stdout, "data");
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([code, null]);
  },
);

// An early end of the reader breaks the pipe. Unhandled, the exit code would be 1, which means a
// violation.
test.each([0, 1])("a reader that closes the pipe early leaves the exit code %d of main", async (code) => {
  const source = `exports.main = async () => {
    for (let line = 0; line < 5; line += 1) {
      console.log(line);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    process.stderr.write("done");
    return ${code};
  }`;
  const child = spawn(process.execPath, argsOf(source));
  child.stdout.once("data", () => child.stdout.destroy());
  const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect([status, stderr]).toEqual([code, "done"]);
});

function argsOf(source: string | undefined): string[] {
  const file = join(folder, `${Math.random()}.cjs`);
  if (source !== undefined) writeFileSync(file, source);
  const script = `(await import("${RUN_BUILT}")).runBuilt(new URL("${pathToFileURL(file).href}"))`;
  return ["--input-type=module", "-e", script, "bin", "1"];
}
