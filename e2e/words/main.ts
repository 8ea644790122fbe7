// npm run words: Markdown style and spelling. With --fix it wraps wide paragraphs.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Configuration, LintError } from "markdownlint" with { "resolution-mode": "import" };
import { ROOT } from "../ops/repository";
import { COLUMNS, isTooWide, mapParagraphs, wrapMarkdown } from "./wrapMarkdown";

const GENERATED = /^sdk\/api\.md$/;
/** Texts for partners and operators that are no Markdown. */
const OTHER_TEXTS = [
  "proto/**/*.proto",
  "kit/src/contract/errors.ts",
  "gateway/src/routes/apiDescription.ts",
  "e2e/docs/errorAdvice.ts",
  "sdk/src/**/*.ts",
  "helm/wonrail/values.yaml",
  "deploy/prometheus/rules/*.yaml",
];

async function main(): Promise<number> {
  const pages = trackedFiles("*.md");
  if (process.argv.includes("--fix")) pages.forEach(wrapPage);
  const problems = [...(await lintPages(pages)), ...pages.flatMap(findWideLines)];
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  const texts = OTHER_TEXTS.flatMap(trackedFiles).filter((path) => !path.endsWith(".test.ts"));
  const isSpelled = checkSpelling([...pages, ...texts]);
  return problems.length === 0 && isSpelled ? 0 : 1;
}

function trackedFiles(pattern: string): string[] {
  const args = ["ls-files", "-co", "--exclude-standard", pattern];
  return execFileSync("git", args, { cwd: ROOT, encoding: "utf8" })
    .split("\n")
    .filter((path) => path !== "" && existsSync(join(ROOT, path)));
}

async function lintPages(pages: string[]): Promise<string[]> {
  const { lint } = await import("markdownlint/promise");
  const config = JSON.parse(readFileSync(join(ROOT, ".markdownlint.json"), "utf8")) as Configuration;
  const results = await lint({ files: pages.map((path) => join(ROOT, path)), config });
  return Object.entries(results).flatMap(([file, errors]) =>
    errors.map((error) => `${file.slice(ROOT.length + 1)}:${error.lineNumber}: ${describe(error)}`),
  );
}

function describe({ ruleNames, ruleDescription, errorDetail, errorContext }: LintError): string {
  const details = [errorDetail, errorContext].filter((text) => text).join(" ");
  return `${ruleDescription}${details === "" ? "" : `: ${details}`} (${ruleNames.join("/")})`;
}

/** The linter's own rule also counts code and links that cannot be broken. */
function findWideLines(path: string): string[] {
  if (GENERATED.test(path)) return [];
  const lines = readFileSync(join(ROOT, path), "utf8").split("\n");
  const prose = new Set<string>();
  mapParagraphs(lines.join("\n"), (paragraph) => (paragraph.forEach((line) => prose.add(line)), paragraph));
  return lines.flatMap((line, index) =>
    prose.has(line) && isTooWide(line)
      ? [`${path}:${index + 1}: wrap the paragraph at ${COLUMNS} columns, or run npm run words -- --fix`]
      : [],
  );
}

function wrapPage(path: string): void {
  if (GENERATED.test(path)) return;
  const page = readFileSync(join(ROOT, path), "utf8");
  const wrapped = wrapMarkdown(page);
  if (wrapped !== page) writeFileSync(join(ROOT, path), wrapped);
}

/** Prints file, line, word and suggestions. Words of the trade are in docs/words.txt. */
function checkSpelling(paths: string[]): boolean {
  const cspell = join(ROOT, "node_modules/cspell/bin.mjs");
  const options = ["--no-progress", "--no-summary", "--show-suggestions", "--no-must-find-files"];
  const { status } = spawnSync(process.execPath, [cspell, ...options, "--file-list", "stdin"], {
    cwd: ROOT,
    input: paths.join("\n"),
    stdio: ["pipe", "inherit", "inherit"],
  });
  if (status !== 0) process.stdout.write("Correct the word, or add a word of the trade to docs/words.txt.\n");
  return status === 0;
}

void main().then((code) => (process.exitCode = code));
