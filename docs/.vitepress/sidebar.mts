import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DefaultTheme } from "vitepress";

const DOCS = fileURLToPath(new URL("..", import.meta.url));

const operate = section("Operate", "operate", [
  "install",
  "configure",
  "console",
  "production",
  "high-availability",
  "contracts",
  "capacity",
  "upgrade",
  "backup",
  "keys",
  "leaked-key",
  "approvals",
  "threat-model",
  "alerts",
]);
const contribute = section("Contribute", "contribute", [
  "architecture",
  "add-an-rpc",
  "tests",
  "error-coverage",
  "planted-bugs",
  "kubernetes-run",
  "documentation",
]);
contribute.items!.push(
  { text: "Performance", collapsed: true, items: pages("performance", ["index", ...namesIn("performance")]) },
  { text: "Evidence", collapsed: true, items: pages("evidence", ["index", ...namesIn("evidence")]) },
  { text: "Decisions", link: "/adr/index" },
);

const everywhere = [
  section("Start", "start", ["partner", "operator", "sdk"]),
  section("Concepts", "concepts", ["money", "waterfall", "settlement", "idempotency", "events", "glossary"]),
  section("Guides", "guides", [
    "accept-a-payment",
    "refund-and-cancel",
    "pay-many",
    "reconcile-a-day",
    "export-a-month",
    "events",
    "webhooks",
    "x402",
    "sandbox",
    "keys-and-scopes",
    "handle-errors",
    "sdk",
    "python",
    "other-languages",
  ]),
  operate,
  section("Reference", "reference", [
    "rest",
    "api-changes",
    "errors",
    "events",
    "metrics",
    "cli",
    "configuration",
    "chart",
  ]),
  contribute,
];

/** The navigation of each page. A test checks that each page has a place here. */
export const sidebar: DefaultTheme.SidebarMulti = {
  "/": everywhere,
  // Long lists are shown beside their own pages only.
  "/runbooks/": [operate, section("Runbooks", "runbooks", namesIn("runbooks"))],
  "/adr/": [contribute, section("Decisions", "adr", namesIn("adr"))],
};

function section(text: string, folder: string, names: string[]): DefaultTheme.SidebarItem {
  return { text, collapsed: false, items: pages(folder, names) };
}

function pages(folder: string, names: string[]): DefaultTheme.SidebarItem[] {
  return names.map((name) => ({ text: titleOf(folder, name), link: `/${folder}/${name}` }));
}

function namesIn(folder: string): string[] {
  return readdirSync(join(DOCS, folder))
    .filter((file) => file.endsWith(".md") && file !== "index.md")
    .map((file) => file.slice(0, -".md".length))
    .sort();
}

function titleOf(folder: string, name: string): string {
  const text = readFileSync(join(DOCS, folder, `${name}.md`), "utf8");
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? name;
}
