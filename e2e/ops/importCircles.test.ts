import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT, readText } from "./repository";

/** A file of each circle that still exists. Its owner removes the circle and this line. */
const KNOWN_CIRCLES = [
  "kit/src/db/session.ts",
  "kit/src/grpc/client/coalesce.ts",
  "services/ledger/src/domain/book.ts",
];

const sources = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.ts"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path !== "" && !path.endsWith(".test.ts") && existsSync(join(ROOT, path)));

test("no files import each other in a circle", () => {
  const circles = findCircles(readImports(sources));
  const added = circles.filter((circle) => !KNOWN_CIRCLES.some((file) => circle.includes(file)));
  expect(added.map((circle) => `${circle.join(", ")}: move the shared part into its own file`)).toEqual([]);
  const gone = KNOWN_CIRCLES.filter((file) => !circles.some((circle) => circle.includes(file)));
  expect(gone.map((file) => `${file} is in no circle any more: remove it from KNOWN_CIRCLES`)).toEqual([]);
});

test("a circle through several files is found, and a chain is none", () => {
  const imports = new Map([
    ["a", ["b"]],
    ["b", ["c"]],
    ["c", ["a", "d"]],
    ["d", ["e"]],
    ["e", []],
  ]);
  expect(findCircles(imports)).toEqual([["a", "b", "c"]]);
});

/** The files that each file imports. Type imports count, because readers follow them too. */
function readImports(paths: string[]): Map<string, string[]> {
  const known = new Set(paths);
  const statement = /^(?:import|export)\s+[^;'"]*?from\s+["'](\.[^"']*)["']/gms;
  const resolve = (from: string, to: string) => {
    const path = join(dirname(from), to);
    return [path, `${path}.ts`, `${path}/index.ts`].find((file) => known.has(file));
  };
  return new Map(
    paths.map((from) => [
      from,
      [...readText(from).matchAll(statement)].flatMap(([, to]) => resolve(from, to!) ?? []),
    ]),
  );
}

/** Groups of files that import each other. */
function findCircles(imports: Map<string, string[]>): string[][] {
  const reachable = new Map([...imports.keys()].map((path) => [path, reachableFrom(path, imports)]));
  const circles = new Map<string, string[]>();
  for (const [path, found] of reachable) {
    const circle = [...found].filter((other) => reachable.get(other)!.has(path)).sort();
    if (circle.length > 0) circles.set(circle[0]!, circle);
  }
  return [...circles.values()];
}

function reachableFrom(path: string, imports: Map<string, string[]>): Set<string> {
  const found = new Set<string>();
  const queue = [path];
  for (let next = queue.pop(); next !== undefined; next = queue.pop())
    for (const target of imports.get(next)!)
      if (!found.has(target)) {
        found.add(target);
        queue.push(target);
      }
  return found;
}
