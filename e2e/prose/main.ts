// npm run prose: fails when a folder has more hard prose than e2e/prose/ceilings.json allows.
// With --lower it lowers the ceilings to the present counts.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../ops/repository";
import { type Counts, findExcess, findSlack, lowerCeilings } from "./ceilings";
import { type Finding, findProse } from "./findProse";

const CEILINGS = join(ROOT, "e2e/prose/ceilings.json");
const PROSE = /\.(ts|mjs|js|sol|proto|sql|sh|md|yaml|yml|tpl)$/;
const GENERATED = /(^|\/)(node_modules|gen|dist|CHANGELOG)|package-lock|openapi\.json|errorCodes\.ts|LICENSE/;
const MAX_SHOWN = 20;

type Located = Finding & { path: string };

function main(): number {
  const findings = trackedFiles().flatMap((path) =>
    findProse(path, readFileSync(join(ROOT, path), "utf8")).map((finding) => ({ ...finding, path })),
  );
  const counts = countByFolder(findings);
  const ceilings = JSON.parse(readFileSync(CEILINGS, "utf8")) as Counts;
  if (process.argv.includes("--lower"))
    writeFileSync(CEILINGS, `${JSON.stringify(lowerCeilings(counts, ceilings), null, 2)}\n`);
  const excess = findExcess(counts, ceilings);
  for (const { folder, kind, count, ceiling } of excess) {
    print(`${folder}: ${count} × ${kind}, at most ${ceiling} are allowed. Newest files first:`);
    for (const { path, line, quote, suggestion } of findings
      .filter((finding) => finding.kind === kind && folderOf(finding.path) === folder)
      .slice(0, MAX_SHOWN))
      print(`  ${path}:${line}: ${suggestion}\n      ${quote}`);
  }
  const slack = findSlack(counts, ceilings).length;
  if (slack > 0 && !process.argv.includes("--lower"))
    print(`${slack} ceilings of e2e/prose/ceilings.json can be lowered: npm run prose -- --lower`);
  return excess.length === 0 ? 0 : 1;
}

/** Newest first, so that the output begins with the files of the present change. */
function trackedFiles(): string[] {
  return execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: ROOT, encoding: "utf8" })
    .split("\n")
    .filter((path) => PROSE.test(path) && !GENERATED.test(path) && existsSync(join(ROOT, path)))
    .map((path) => ({ path, changedMs: statSync(join(ROOT, path)).mtimeMs }))
    .sort((a, b) => b.changedMs - a.changedMs)
    .map(({ path }) => path);
}

function countByFolder(findings: Located[]): Counts {
  const counts: Counts = {};
  for (const { path, kind } of findings) {
    const folder = (counts[folderOf(path)] ??= {});
    folder[kind] = (folder[kind] ?? 0) + 1;
  }
  return counts;
}

function folderOf(path: string): string {
  return path.includes("/") ? path.split("/", 1)[0]! : ".";
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.exit(main());
