// Plants bugs in the signing rules. The cases of signingPolicy.test.ts must find each of them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { transformSync } from "@swc/core";
import * as money from "@wonrail/kit/contract/money";
import { type Policy, signingCases } from "./testing/signingCases";

const LEAST_FOUND = 0.95;

/** Each occurrence of the first text is replaced by each of the others. */
const BUGS: [string, string[]][] = [
  [" === ", [" !== "]],
  [" !== ", [" === "]],
  [" <= ", [" < ", " > "]],
  [" > ", [" >= ", " < "]],
  [" >= ", [" > ", " < "]],
  [" + ", [" - "]],
  [" && ", [" || "]],
  ["if (!", ["if ("]],
  ["?? won(0n)", ["?? won(1n)"]],
  ["?? 0n", ["?? 1n"]],
  [".toLowerCase()", [""]],
  ["return null;", ['return "expired";']],
  ['return "', ['return null ?? "x']],
  ["return full[2];", ["return null;"]],
  ["limits.walletWon", ["limits.globalWon"]],
  ["limits.organisationWon", ["limits.globalWon"]],
];

const source = readFileSync(join(__dirname, "signingPolicy.ts"), "utf8");
const rulesStart = source.indexOf("export function refusalOf");

test("the tests find nineteen of twenty planted bugs in the rules", () => {
  expect(failuresOf(source)).toEqual([]);
  const mutants = BUGS.flatMap(([text, bugs]) => bugs.flatMap((bug) => plant(text, bug)));
  expect(mutants.length).toBeGreaterThan(40);
  const survivors = mutants.filter(({ code }) => failuresOf(code).length === 0);
  const surviving = survivors.map(({ where }) => where);
  expect({ surviving, enough: survivors.length <= mutants.length * (1 - LEAST_FOUND) }).toEqual({
    surviving,
    enough: true,
  });
});

function plant(text: string, bug: string): { where: string; code: string }[] {
  const mutants: { where: string; code: string }[] = [];
  for (let at = source.indexOf(text, rulesStart); at !== -1; at = source.indexOf(text, at + 1)) {
    const code = source.slice(0, at) + bug + source.slice(at + text.length);
    const line = source.slice(0, at).split("\n").length;
    mutants.push({ where: `line ${line}: "${text}" as "${bug}"`, code });
  }
  return mutants;
}

/** Names of failing cases; a case that throws counts too. */
function failuresOf(code: string): string[] {
  const policy = load(code);
  return signingCases.flatMap(({ name, ask, answer }) => {
    try {
      return isDeepStrictEqual(ask(policy), answer) ? [] : [name];
    } catch {
      return [name];
    }
  });
}

function load(code: string): Policy {
  const options = {
    jsc: { parser: { syntax: "typescript" }, target: "es2023" },
    module: { type: "commonjs" },
  } as const;
  const compiled = transformSync(code, options).code;
  const exports = {};
  // oxlint-disable-next-line typescript/no-implied-eval -- our own source with one word changed
  new Function("require", "exports", compiled)(() => money, exports);
  return exports as Policy;
}
