import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT, readText } from "./repository";

const PAGES = [
  ...readdirSync(join(ROOT, "docs/runbooks")).map((file) => `docs/runbooks/${file}`),
  "helm/wonrail/GUIDE.md",
];

test("what the pages for operators run by its place in the image is there, in every image", () => {
  const named = PAGES.flatMap((page) => [...readText(page).matchAll(/\/app\/([\w/.-]+\.mjs)/g)]).map(
    ([, path]) => path!,
  );
  expect(named).toContain("kit/bin/deadLetters.mjs");
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  expect(readText("deploy/Dockerfile")).toMatch(/for part in .* kit\/bin kit\/dist /);
});

test("no page sends an operator to another service's pod for what was put aside", () => {
  for (const page of PAGES) expect(readText(page)).not.toMatch(/wonrail-\S+ -- [^`\n]*dead-letter/);
});
