import { Command } from "commander";
import { DomainError, invalidRequest } from "../contract/errors";
import { CouldNotRun, Refusal, runCommands } from "./runCommands";

test.each<[number, Error, string]>([
  [1, new Refusal("There is no such key."), "There is no such key.\n"],
  [1, invalidRequest([{ path: "dailyLimit", message: "must be less" }]), "daily-limit: must be less\n"],
  [1, new DomainError("WAL_002"), expect.stringMatching(/^The wallet does not exist\./) as string],
  [2, new CouldNotRun("There is no database."), "There is no database.\n"],
  [2, new DomainError("SYS_003"), expect.stringContaining("The outcome is not known.") as string],
])("ends with %d for %s", async (code, error, err) => {
  expect(await run(() => Promise.reject(error))).toEqual({ code, out: "", err });
});

test("an unexpected error is rethrown with its stack", async () => {
  await expect(run(() => Promise.reject(new TypeError("x is no function")))).rejects.toThrow(TypeError);
});

test("success and help exit with 0, and a wrong command line with 2 and the way to get help", async () => {
  expect(await run(async () => undefined)).toEqual({ code: 0, out: "", err: "" });
  expect(await run(async () => undefined, "look", "--help")).toMatchObject({ code: 0, err: "" });
  const wrong = { code: 2, out: "", err: expect.stringContaining("--help") as string };
  expect(await run(async () => undefined, "look", "--jsn")).toEqual(wrong);
  expect(await run(async () => undefined, "listen")).toEqual(wrong);
});

test.each([
  ["--code", "A", "--code", "B"],
  ["--code=A", "--code=A"],
  ["--json", "--json"],
])("an option given twice is a wrong command line: %j", async (...args) => {
  const work = jest.fn(async () => undefined);
  const expected = { code: 2, out: "", err: expect.stringContaining("is given more than once") as string };
  expect(await run(work, "look", ...args)).toEqual(expected);
  expect(work).not.toHaveBeenCalled();
});

async function run(work: () => Promise<void>, ...args: string[]) {
  const output = { out: "", err: "" };
  const program = new Command("admin");
  program.command("look").option("--code <code>").option("--json").action(work);
  const code = await runCommands(program, args.length === 0 ? ["look"] : args, {
    out: (text) => void (output.out += text),
    err: (text) => void (output.err += text),
  });
  return { code, ...output };
}
