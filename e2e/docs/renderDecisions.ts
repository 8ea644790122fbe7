import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT, readText } from "../ops/repository";

/** From which number on a decision is about what. */
const GROUPS: [from: number, about: string][] = [
  [1, "Everywhere"],
  [10, "Events and their buses"],
  [20, "The local stack"],
  [30, "Auth"],
  [40, "Gateway"],
  [50, "Contracts"],
  [60, "Ledger"],
  [80, "Settlement and recorded transactions"],
  [95, "Client library"],
  [100, "Operations"],
  [105, "Across services, in the order in which they were taken"],
];

/** docs/adr/README.md: every decision by its title. */
export function renderDecisions(): string {
  const titles = readdirSync(join(ROOT, "docs/adr"))
    .filter((file) => /^\d{4}-/.test(file))
    .sort()
    .map((file) => ({ file, title: readText(`docs/adr/${file}`).split("\n", 1)[0]!.replace("# ", "") }));
  const groups = GROUPS.map(([from, about], index) => {
    const until = GROUPS[index + 1]?.[0] ?? Infinity;
    const lines = titles
      .filter(({ file }) => Number(file.slice(0, 4)) >= from && Number(file.slice(0, 4)) < until)
      .map(({ file, title }) => `- [${title.slice(0, 4)}](${file}) ${title.slice(6)}`);
    return `## ${about}\n\n${lines.join("\n")}\n`;
  });
  return `# Decisions

Why it is built so, one decision a page. Generated from their titles by \`npm run docs\`; do not edit.

${groups.join("\n")}`;
}
