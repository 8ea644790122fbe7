import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { homeAt } from "../home";
import { logs } from "./logs";

const folder = mkdtempSync(join(tmpdir(), "wonrail-logs-"));
const { logsDir } = homeAt(folder);
const given = process.env.WONRAIL_HOME;
let output = "";
beforeAll(() => {
  process.env.WONRAIL_HOME = folder;
  jest.spyOn(process.stderr, "write").mockImplementation((text) => ((output += String(text)), true));
});
afterAll(() => {
  jest.restoreAllMocks();
  if (given === undefined) delete process.env.WONRAIL_HOME;
  else process.env.WONRAIL_HOME = given;
  rmSync(folder, { recursive: true });
});
beforeEach(() => (output = ""));

test("a search without any log names the folder", async () => {
  expect(await logs([])).toBe(1);
  expect(output).toBe(`There is no log in ${logsDir}. There are: none.\n`);
});

test("an unknown log name is answered with the known names", async () => {
  mkdirSync(logsDir, { recursive: true });
  writeFileSync(join(logsDir, "ledger.log"), "");
  expect(await logs(["ledgrin"])).toBe(1);
  expect(output).toBe(`There is no log ledgrin in ${logsDir}. There are: ledger.\n`);
});

test("a reader that closes the pipe early ends the command silently", async () => {
  writeFileSync(join(logsDir, "ledger.log"), "first\n");
  const script = `require(${JSON.stringify(join(__dirname, "logs.ts"))}).logs(["ledger"])`;
  const child = spawn(process.execPath, ["--import", "tsx", "-e", script], { env: process.env });
  await once(child.stdout, "data");
  child.stdout.destroy();
  appendFileSync(join(logsDir, "ledger.log"), "second\n");
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect([code, stderr]).toEqual([0, ""]);
});
