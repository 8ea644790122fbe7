import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../ops/repository";
import { type ApiDocument } from "./describeChanges";
import { readReleases } from "./readReleases";
import { renderApiChanges } from "./renderApiChanges";

const PAGE = "docs/reference/api-changes.md";
const DOCUMENT = readFileSync(join(ROOT, "gateway/openapi.json"), "utf8");

/** The present document without these paths. */
function without(...paths: string[]): ApiDocument {
  const document = JSON.parse(DOCUMENT) as ApiDocument;
  for (const path of paths) delete document.paths[path];
  return document;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wonrail-api-changes-"));
  for (const path of ["docs/reference", "gateway"]) mkdirSync(join(folder, path), { recursive: true });
  cpSync(join(ROOT, PAGE), join(folder, PAGE));
  writeFileSync(join(folder, "gateway/openapi.json"), DOCUMENT);
});
afterEach(() => rmSync(folder, { recursive: true }));

const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], {
    ...{ cwd: folder, stdio: "pipe" },
  });

function release(tag: string, document: ApiDocument): void {
  writeFileSync(join(folder, "gateway/openapi.json"), JSON.stringify(document));
  git("add", "--all");
  git("commit", "--quiet", "--allow-empty", "--message", tag);
  git("tag", tag);
}

test("each release and the unreleased changes have a section, and a clone without tags keeps the page", () => {
  git("init", "--quiet");
  release("v1.0.0", without("/api/events"));
  release("v1.1.0", without());
  const unreleased = without("/healthz");
  writeFileSync(join(folder, "gateway/openapi.json"), JSON.stringify(unreleased));
  const page = renderApiChanges(folder);
  const date = /\d{4}-\d\d-\d\d/.source;
  expect(page.replace(new RegExp(date, "g"), "DATE")).toContain(
    [
      "## Unreleased\n\n### GET /healthz\n\n- The operation is gone.",
      "## v1.1.0 · DATE\n\n### GET /api/events\n\n- New operation.",
      "## v1.0.0 · DATE\n\nThe first release.\n",
    ].join("\n\n"),
  );
  writeFileSync(join(folder, PAGE), page);
  expect(renderApiChanges(folder)).toBe(page);

  git("commit", "--quiet", "--all", "--message", "work");
  const clone = join(folder, "clone");
  git("clone", "--quiet", "--depth", "1", "--no-tags", `file://${folder}`, clone);
  expect(readReleases(clone)).toEqual([]);
  expect(renderApiChanges(clone)).toBe(page);
});

test("a folder without git keeps the page, and a repository without releases says so", () => {
  const page = readFileSync(join(folder, PAGE), "utf8");
  writeFileSync(join(folder, ".git"), "gitdir: /nowhere\n");
  expect(readReleases(folder)).toBeNull();
  expect(renderApiChanges(folder)).toBe(page);
  rmSync(join(folder, ".git"));
  git("init", "--quiet");
  expect(renderApiChanges(folder)).toContain("No release has been tagged yet");
});
