import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeAt } from "../home";
import { logs } from "./logs";

const folder = mkdtempSync(join(tmpdir(), "wonrail-logs-"));
const { logsDir } = homeAt(folder);
const given = process.env.WONRAIL_HOME;
let said = "";
beforeAll(() => {
  process.env.WONRAIL_HOME = folder;
  jest.spyOn(process.stderr, "write").mockImplementation((text) => ((said += String(text)), true));
});
afterAll(() => {
  jest.restoreAllMocks();
  if (given === undefined) delete process.env.WONRAIL_HOME;
  else process.env.WONRAIL_HOME = given;
  rmSync(folder, { recursive: true });
});
beforeEach(() => (said = ""));

test("without any log it says where it looked", async () => {
  expect(await logs([])).toBe(1);
  expect(said).toBe(`There is no log in ${logsDir}. There are: none.\n`);
});

test("a name that no log has is answered with those that there are", async () => {
  mkdirSync(logsDir, { recursive: true });
  writeFileSync(join(logsDir, "ledger.log"), "");
  expect(await logs(["ledgrin"])).toBe(1);
  expect(said).toBe(`There is no log ledgrin in ${logsDir}. There are: ledger.\n`);
});
