import { posix } from "node:path";
import type { MarkdownRenderer } from "vitepress";

/** The address of the repository's files, such as https://git.example.com/wonrail/blob/main. */
const repository = process.env["WONRAIL_DOCS_REPOSITORY"];
/** Links of included sections. */
const FROM_ROOT = /^(docs|kit|gateway|services|proto|sdk|deploy|helm|e2e|contracts)\/|^[A-Z]+\.md/;

/**
 * Links to files outside docs/ work in the repository and not on the site. With
 * WONRAIL_DOCS_REPOSITORY they lead to the repository. Without it only their text remains.
 * Pages include sections of files in the repository's root, whose links are relative to the root.
 */
export function linkRepositoryFiles(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push("repository_files", ({ tokens, env }) => {
    const { relativePath } = env as { relativePath?: string };
    // Texts that are not pages, such as titles of the navigation, have no links.
    if (relativePath === undefined) return;
    const folder = posix.dirname(relativePath);
    for (const { children } of tokens) {
      let isDropped = false;
      for (const token of children ?? []) {
        if (token.type === "link_open") {
          const file = repositoryPath(folder, String(token.attrGet("href")));
          if (file?.startsWith("docs/")) token.attrSet("href", file.slice("docs".length));
          else if (file !== undefined && repository !== undefined)
            token.attrSet("href", `${repository}/${file}`);
          else isDropped = file !== undefined;
        }
        if (!isDropped || !/^link_(open|close)$/.test(token.type)) continue;
        if (token.type === "link_close") isDropped = false;
        Object.assign(token, { type: "text", content: "", nesting: 0 });
      }
    }
  });
}

/**
 * The path from the repository's root, or undefined for a page of the site or another site. It does
 * not look for the file: the image build has the pages only.
 */
function repositoryPath(folder: string, href: string): string | undefined {
  if (/^([a-z]+:|\/|#)/i.test(href)) return undefined;
  if (FROM_ROOT.test(href)) return href;
  const path = posix.join("docs", folder, href);
  return path.startsWith("docs/") ? undefined : path;
}
