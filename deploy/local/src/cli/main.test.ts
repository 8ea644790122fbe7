import { LOCAL_COMMANDS } from "./localCommands";
import { findLeaves, main, OWNERS } from "./main";

const commands = OWNERS.flatMap(({ service, listCommands }) =>
  listCommands().flatMap((command) =>
    findLeaves(command).map(({ name, summary }) => ({ name, summary, service })),
  ),
);

test("every service has a command, and no two have one of the same name", () => {
  expect(new Set(commands.map(({ service }) => service))).toEqual(
    new Set(["auth", "chain-relayer", "wallet", "payment", "events", "ledger", "all"]),
  );
  const names = OWNERS.flatMap(({ listCommands }) => listCommands().map((command) => command.name()));
  const all = [...names, ...LOCAL_COMMANDS.map(({ name }) => name)];
  expect(all).toEqual([...new Set(all)]);
});

test.each(commands)("hands $name to $service with all arguments", async ({ name, service }) => {
  const args = [...name.split(" "), "--json", "--help", "x y"];
  expect(await run(args)).toEqual({ code: 1, out: "", err: "", handed: [[service, args]] });
});

test("--help lists every command with its summary on one line, and exits with 0", async () => {
  const { code, out, err } = await run(["--help"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const rows = [...commands, ...LOCAL_COMMANDS].map(({ name, summary }) => [name, summary]);
  const lines = out.split("\n").map((line) => line.trim().split(/ {2,}/));
  expect(lines).toEqual(expect.arrayContaining(rows));
  for (const { subject } of OWNERS) expect(out).toContain(`\n${subject}\n`);
});

test.each([
  ["orgs", "org"],
  ["dead-leter", "dead-letter"],
  ["operaton", "operation"],
  ["lgos", "logs"],
])("the unknown command %s suggests %s and exits with 2", async (name, nearest) => {
  const { code, out, err, handed } = await run([name, "list"]);
  expect({ code, out, handed }).toEqual({ code: 2, out: "", handed: [] });
  expect(err).toContain(`unknown command '${name}'`);
  expect(err).toMatch(new RegExp(`Did you mean .*${nearest}`));
});

test.each([[[]], [["--jsn"]], [["zzzzzzzz"]]])("the wrong command line %j exits with 2", async (args) => {
  const { code, out, err } = await run(args);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).not.toBe("");
});

/** Replaces each service's program by a recorder that returns 1. */
async function run(args: string[]) {
  const said = { out: "", err: "" };
  const handed: [string, string[]][] = [];
  const owners = OWNERS.map((owner) => ({
    ...owner,
    main: async (given: string[]) => (handed.push([owner.service, given]), 1 as const),
  }));
  const terminal = {
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
  };
  const code = await main(args, terminal, owners);
  return { code, ...said, handed };
}
