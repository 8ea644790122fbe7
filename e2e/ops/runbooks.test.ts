import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { helpOf, LOCAL_COMMANDS } from "@wonrail/local/cli/localCommands";
import { findLeaves, OWNERS } from "@wonrail/local/cli/main";
import { parse } from "yaml";
import { operatePages, DEPLOYED, ROOT, readText, settingsOf } from "./repository";

// Every command that the operators' pages print must exist.

const PAGES = [
  ...readdirSync(join(ROOT, "docs/runbooks")).map((file) => `docs/runbooks/${file}`),
  ...operatePages(),
];
const names = DEPLOYED.map(({ name }) => name);
const values = parse(readText("helm/wonrail/values.yaml")) as object;
const { scripts } = JSON.parse(readText("package.json")) as { scripts: Record<string, string> };

describe.each(PAGES)("%s", (page) => {
  const text = readText(page);

  it("names existing scripts and files", () => {
    const missing = [...text.matchAll(/npm run (?:--silent )?([a-z:]+)/g)].filter(
      ([, name]) => !scripts[name!],
    );
    const files = [...text.matchAll(/node ((?:contracts\/)?bin\/[a-zA-Z]+\.mjs)/g)].map((match) => match[1]!);
    const places = [".", ...DEPLOYED.map(({ folder }) => folder)];
    const absent = files.filter((file) => !places.some((at) => existsSync(join(ROOT, at, file))));
    expect({ missing: missing.map(([, name]) => name), absent }).toEqual({ missing: [], absent: [] });
  });

  it("names processes by their names in a cluster", () => {
    const found = [...text.matchAll(/(?:deployment|service)\/wonrail-([a-z-]+)/g)].map((match) => match[1]!);
    expect(found.filter((name) => !names.includes(name))).toEqual([]);
  });

  it("gives existing operator commands with known options", () => {
    const unknown = commandsOf(text).flatMap(({ owner, words }) =>
      words.filter((word) => !vocabularyOf(owner).has(word)).map((word) => `${owner}: ${word}`),
    );
    expect(unknown).toEqual([]);
  });

  it("gives the namespace of each kubectl command", () => {
    const commands = [...text.matchAll(/kubectl [^`\n]*/g)].map(([command]) => command);
    const elsewhere = commands.filter(
      (command) => !NAMESPACED.test(command) && !command.startsWith("kubectl apply -f deploy/ha/examples/"),
    );
    expect(elsewhere).toEqual([]);
  });

  it("gives the contracts' commands by their place in the image, with all needed options", () => {
    const commands = [...text.matchAll(/node (\S*contracts\/bin\/)(\w+)\.mjs([^`\n]*)/g)];
    for (const [command, place, program, args] of commands) {
      expect(place).toBe("/app/contracts/bin/");
      const source = readText(`contracts/bin/${program}.mjs`);
      const options = [...args!.matchAll(/ --([a-z-]+)/g)].map((match) => match[1]!);
      const strange = options.filter(
        (option) => !source.includes(`"${option.replace(/^(.+)-key-file$/, "$1")}"`),
      );
      expect({ command, strange }).toEqual({ command, strange: [] });
      const needed = program === "admin" ? ["rpc", "deployment", "key-file"] : [];
      expect(options).toEqual(expect.arrayContaining(needed));
      const name = /^ ([a-z-]+)/.exec(args!)?.[1];
      if (program === "admin") expect(source).toMatch(new RegExp(`^  "?${name}"?: \\{\\s+says: "`, "m"));
    }
  });

  it("names existing chart values and settings", () => {
    const spans = [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!);
    // Paths with a capital letter may be the chart's: Kafka, Postgres and files are named without
    // them.
    const paths = spans.filter(
      (span) =>
        /^[a-zA-Z]+(\.[a-zA-Z<>-]+)+$/.test(span) &&
        (span.split(".")[0]! in values || /[a-z][A-Z]/.test(span)),
    );
    expect(paths.filter((path) => !isValue(path.split(".")))).toEqual([]);
    const known = new Set(DEPLOYED.flatMap((process) => [...settingsOf(process)]));
    const settings = [...text.matchAll(/\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b\*?|\b[A-Z]+(?:_[A-Z]+)*_\*/g)]
      .map(([name]) => name)
      .filter((name) => !isKnown(name, known) && !NOT_SETTINGS.test(name));
    expect(settings).toEqual([]);
  });
});

test("commandsOf finds the commands of the pages", () => {
  const found = PAGES.flatMap((page) => commandsOf(readText(page)));
  expect(found).toContainEqual({ owner: "auth", words: ["dead-letter", "list", "--service"] });
  expect(found).toContainEqual({ owner: "chain-relayer", words: ["drift", "ack", "--reason"] });
  expect(found).toContainEqual({ owner: "chain-relayer", words: ["drift", "ack", "--id", "--reason"] });
  expect(found).toContainEqual({ owner: "wallet", words: ["kek", "rotate", "--reason"] });
  expect(commandsOf("`npx wonrail drift list --all`, `npx wonrail forget it`")).toEqual([
    { owner: "chain-relayer", words: ["drift", "list", "--all"] },
    { owner: "wonrail", words: ["forget", "it"] },
  ]);
  expect(vocabularyOf("wonrail").has("forget")).toBe(false);
  expect(vocabularyOf("wallet").has("replay")).toBe(false);
});

/** The example for CloudNativePG names its namespace in the manifest. */
const NAMESPACED = /^kubectl (-n (wonrail|postgres) |(create|label) namespace (wonrail|postgres)\b)/;

/** Error codes, roles, networks, kinds of drifts, and settings of the local stack and of Patroni. */
const NOT_SETTINGS =
  /^([A-Z]+_\d{3}|.*_ROLE|UNKNOWN_OPERATION|UNEXPLAINED_MINT|WON(RAIL)?_.*|PATRONI_.*|NAME_FILE)$/;

function isKnown(name: string, known: Set<string>): boolean {
  if (name.endsWith("*")) return [...known].some((each) => each.startsWith(name.slice(0, -1)));
  return known.has(name.replace(/_FILE$/, ""));
}

interface Typed {
  owner: string;
  /** Its commands and options, without the operator's values. */
  words: string[];
}

/** A command runs in the pod that it names, that its line names, or that the page named last. */
function commandsOf(text: string): Typed[] {
  let last = "auth";
  return text.split("\n").flatMap((line) =>
    [
      ...line.matchAll(
        /(?:deployment\/wonrail-([a-z-]+) -- )?(?:node bin\/admin\.mjs|(npx wonrail))([^`;]*)/g,
      ),
    ].map(([, pod, cli, rest]) => {
      const beside = /in ([a-z-]+)'s pod/.exec(line)?.[1];
      last = cli === undefined ? (pod ?? beside ?? last) : ownerOf(rest!);
      const words = rest!
        .split(/\s+/)
        .filter((word) => /^(--)?[a-z][a-z-]+$/.test(word) && word !== "--help");
      const options = words.findIndex((word) => word.startsWith("--"));
      const said =
        options < 0
          ? words
          : [...words.slice(0, options), ...words.slice(options).filter((word) => word.startsWith("--"))];
      return { owner: last, words: said };
    }),
  );
}

/** The service that owns an operators' command of `npx wonrail`, or wonrail itself. */
function ownerOf(commandLine: string): string {
  const [name] = commandLine.trim().split(/\s+/);
  const owner = OWNERS.find(({ listCommands }) => listCommands().some((each) => each.name() === name));
  return owner?.service ?? "wonrail";
}

/** The commands and options of a service's program, or of the local commands. */
function vocabularyOf(service: string): Set<string> {
  if (service === "wonrail")
    return new Set(LOCAL_COMMANDS.flatMap(({ name }) => helpOf(name).match(/(--)?[a-z-]+/g)!));
  const owner = OWNERS.find((each) => each.service === service);
  const leaves = owner?.listCommands().flatMap((command) => findLeaves(command)) ?? [];
  const words = leaves.flatMap(({ name, command }) => [
    ...name.split(" "),
    ...command.options.map(({ long }) => long!),
  ]);
  // The kit adds it to each command with --reason.
  return new Set([...words, "--operator"]);
}

/** A service's value stands under its name, or in `defaults` for all. */
function isValue([first, ...rest]: string[]): boolean {
  if (first === "services" && rest.length > 1 && hasPath(["defaults", ...rest.slice(1)])) return true;
  return hasPath([first!, ...rest]);
}

function hasPath(path: string[]): boolean {
  let at: unknown = values;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !(key in at)) return false;
    at = (at as Record<string, unknown>)[key];
  }
  return true;
}
