import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT, readText } from "../ops/repository";

export interface RunnableBlock {
  page: string;
  language: "bash" | "js";
  code: string;
}

/** The code blocks marked `run` of all pages. The bash blocks of one page are one script, in order. */
export function findRunnableBlocks(): RunnableBlock[] {
  return docsPages().flatMap((page) => blocksOf(page, readText(page)));
}

export function docsPages(): string[] {
  return readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md") && !/^(dist|node_modules)\//.test(path))
    .map((path) => `docs/${path}`)
    .sort();
}

export function blocksOf(page: string, text: string): RunnableBlock[] {
  const marked = [...text.matchAll(/^```(bash|js) run\n([\s\S]*?)^```$/gm)].map(([, language, code]) => ({
    page,
    language: language as RunnableBlock["language"],
    code: code!,
  }));
  const scripts = marked.filter(({ language }) => language === "bash").map(({ code }) => code);
  const modules = marked.filter(({ language }) => language === "js");
  if (scripts.length === 0) return modules;
  return [{ page, language: "bash", code: scripts.join("\n") }, ...modules];
}
