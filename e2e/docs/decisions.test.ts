import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT, readText } from "../ops/repository";
import { readDecisions } from "./renderDecisions";

const AREAS = [
  "Foundations",
  "Identity and tenancy",
  "API and outcomes",
  "Ledger",
  "Events",
  "Settlement",
  "Custody",
  "Contracts",
  "Operations",
];
const decisions = readDecisions();

test("docs/adr holds at most 40 pages", () => {
  expect(decisions.length).toBeGreaterThan(0);
  expect(decisions.length).toBeLessThanOrEqual(40);
});

test.each(decisions)("$file states title, date, area, context, decision and consequences", (decision) => {
  expect(decision.file).toMatch(new RegExp(`^${decision.number}-[a-z0-9-]+\\.md$`));
  expect(AREAS).toContain(decision.area);
  expect(decision.title.split(" ").length).toBeLessThanOrEqual(8);
  expect([...decision.text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual([
    "Context",
    "Decision",
    "Consequences",
  ]);
  expect(decision.text.split("\n").length).toBeLessThanOrEqual(60);
});

test("decision numbers rise from 0001 without gaps", () => {
  expect(decisions.map(({ number }) => Number(number))).toEqual(decisions.map((_, index) => index + 1));
});

test.each(
  ["docs/adr", "docs/performance"].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((file) => `${folder}/${file}`),
  ),
)("every link of %s leads to a file", (page) => {
  const links = [...readText(page).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, path]) => path!);
  expect(links.filter((path) => !existsSync(join(ROOT, dirname(page), path)))).toEqual([]);
});
