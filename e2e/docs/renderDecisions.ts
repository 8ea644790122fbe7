import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT, readText } from "../ops/repository";

export interface Decision {
  file: string;
  number: string;
  title: string;
  date: string;
  area: string;
  text: string;
}

const HEAD = /^# (\d{4})\. (.+)\n\nDate: (\d{4}-\d{2}-\d{2}) · Area: (.+)\n/;

/** Reads every page of docs/adr in the order of its number. */
export function readDecisions(): Decision[] {
  return readdirSync(join(ROOT, "docs/adr"))
    .filter((file) => file !== "index.md")
    .sort()
    .map((file) => {
      const text = readText(`docs/adr/${file}`);
      const [, number = "", title = "", date = "", area = ""] = HEAD.exec(text) ?? [];
      return { file, number, title, date, area, text };
    });
}

/** Renders docs/adr/index.md: the title of every decision, grouped by area. */
export function renderDecisions(): string {
  const all = readDecisions();
  const areas = [...new Set(all.map(({ area }) => area))];
  const sections = areas.map((area) => {
    const lines = all
      .filter((decision) => decision.area === area)
      .map(({ file, number, title, date }) => `- [${number}](${file}) ${title} (${date})`);
    return `## ${area}\n\n${lines.join("\n")}\n`;
  });
  return `<!-- Generated from the titles by npm run docs; do not edit. -->

# Decisions

These decisions are hard to reverse. Measurements and tuning are in
[performance](../performance/index.md).

${sections.join("\n")}`;
}
