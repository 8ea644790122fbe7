import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reset } from "./commands/reset";
import { homeAt, makeHome } from "./home";
import { openSecrets } from "./secrets";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "wonrail-home-"));
});
afterEach(() => {
  delete process.env.WONRAIL_HOME;
  rmSync(dir, { recursive: true, force: true });
});

test("a folder with foreign files is refused and stays unchanged", () => {
  writeFileSync(join(dir, "thesis.txt"), "years of work");
  chmodSync(dir, 0o1777);
  expect(() => makeHome(homeAt(dir))).toThrow(/holds other files.*\n.*new or empty folder/s);
  expect(statSync(dir).mode & 0o7777).toBe(0o1777);
  expect(readdirSync(dir)).toEqual(["thesis.txt"]);
});

test("a new folder, an empty folder and an earlier home are accepted", () => {
  const home = homeAt(join(dir, "new"));
  makeHome(home);
  makeHome(home);
  makeHome(homeAt(mkdtempSync(join(dir, "empty"))));
  openSecrets(home);
  writeFileSync(join(home.dir, "note.txt"), "put here by an operator");
  makeHome(home);
});

test("reset deletes the stack and leaves foreign files beside it", async () => {
  const home = homeAt(dir);
  makeHome(home);
  openSecrets(home);
  writeFileSync(home.stackFile, "{}");
  mkdirSync(home.part("anvil"));
  writeFileSync(join(dir, "thesis.txt"), "years of work");
  process.env.WONRAIL_HOME = dir;
  expect(await reset(["--yes"])).toBe(0);
  expect(readdirSync(dir)).toEqual(["thesis.txt"]);
});

test("reset refuses a folder that is no home, whatever its subfolders are called", async () => {
  mkdirSync(join(dir, "secrets"));
  writeFileSync(join(dir, "secrets", "diary.txt"), "dear diary");
  writeFileSync(join(dir, "thesis.txt"), "years of work");
  process.env.WONRAIL_HOME = dir;
  expect(await reset(["--yes"])).toBe(1);
  expect(existsSync(join(dir, "secrets", "diary.txt"))).toBe(true);
});
