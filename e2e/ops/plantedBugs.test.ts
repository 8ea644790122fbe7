import { runInNewContext } from "node:vm";
import { readText } from "./repository";

// `npm run ledger:bugs` takes long and runs seldom. This test checks quickly that its search texts
// and its page are current.

const LEDGER = "services/ledger";
const program = readText(`${LEDGER}/bin/plantBugs.mjs`);
const valueOf = (name: string) => {
  const [, text] = new RegExp(`^const ${name} = ([[{].*?^[\\]}]);$`, "ms").exec(program)!;
  return runInNewContext(`(${text})`) as unknown;
};
type Bug = [what: string, file: string, text: string, bug: string, kind: string, more?: [string, string][]];
const bugs = valueOf("BUGS") as Bug[];
const tests = valueOf("TESTS") as Record<string, string[]>;
const table = [
  ...readText("docs/contribute/planted-bugs.md").matchAll(/^\| ([^|]+) \| ([\w/]+\.ts) \| ([^|]+) \|$/gm),
];

test("each bug can be planted: its search text occurs exactly once in the ledger's source", () => {
  expect(bugs.length).toBeGreaterThan(20);
  const lost = bugs.flatMap(([what, file, text, , , more = []]) =>
    [text, ...more.map(([before]) => before)]
      .filter((before) => readText(`${LEDGER}/src/${file}`).split(before).length !== 2)
      .map((before) => `${what}: ${before}`),
  );
  expect(lost).toEqual([]);
});

test("the page has a row for each bug, with an existing test", () => {
  expect(table.map(([, what, file]) => [what, file])).toEqual(bugs.map(([what, file]) => [what, file]));
  const lost = table.filter(
    ([, , , name], index) =>
      !tests[bugs[index]![4]]!.some((file) => isTitleIn(readText(`${LEDGER}/src/${file}`), name!)),
  );
  expect(lost.map(([, what, , name]) => `${what}: ${name}`)).toEqual([]);
});

/** Jest joins the describe title, the test title and the row's values. */
function isTitleIn(text: string, name: string): boolean {
  const groups = ["", ...[...text.matchAll(/\bdescribe\("([^"]+)"/g)].map(([, group]) => `${group} `)];
  const titles = [...text.matchAll(/"([^"\n]{10,})"/g)].map(([, title]) =>
    title!.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/%[sd]/, "(.+)"),
  );
  const inside = groups.filter((group) => name.startsWith(group)).map((group) => name.slice(group.length));
  return inside.some((own) =>
    titles.some((title) => {
      const found = new RegExp(`^${title}$`).exec(own);
      return found !== null && (found[1] === undefined || new RegExp(`["[ ]${found[1]}["\\], ]`).test(text));
    }),
  );
}
