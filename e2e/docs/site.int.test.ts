import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { LOCAL_COMMANDS } from "@wonrail/local/cli/localCommands";
import { findLeaves, OWNERS } from "@wonrail/local/cli/main";
import { declaredMetrics } from "../ops/metrics";
import { ROOT, readText } from "../ops/repository";
import {
  type BuiltPage,
  findDeadLinks,
  findExternalAssets,
  findUnlinkedPages,
  readBuiltPages,
} from "./builtSite";

// The site as it is published, and its reference against the sources.

let pages: BuiltPage[];

beforeAll(() => {
  execFileSync(process.execPath, [join(ROOT, "docs/bin/build.mjs")], { stdio: "pipe" });
  pages = readBuiltPages();
});

test("every link and anchor of the site leads somewhere", () => {
  expect(pages.length).toBeGreaterThan(100);
  expect(findDeadLinks(pages)).toEqual([]);
});

test("no page loads anything from another host", () => {
  expect(findExternalAssets(pages)).toEqual([]);
});

test("every page can be reached from another page", () => {
  expect(findUnlinkedPages(pages)).toEqual([]);
});

test("every page has one title, so no page includes a whole other file", () => {
  const titles = pages.map(({ path, html }) => [path, html.match(/<h1\b/g)?.length ?? 0]);
  expect(titles.filter(([path, count]) => count !== 1 && path !== "404.html")).toEqual([]);
});

test("a dead link, a dead anchor and an external asset are found", () => {
  const path = "guides/bad.html";
  const html = `<a href="/docs/no.html">x</a><a href="#no">y</a><a href="/docs/start/sdk.html#no">z</a>`;
  const bad = { path, html: `${html}<img alt="" src="https://cdn.example.com/x.png">` };
  expect(findDeadLinks([...pages, bad])).toEqual([
    `${path}: /docs/no.html`,
    `${path}: #no`,
    `${path}: /docs/start/sdk.html#no`,
  ]);
  expect(findExternalAssets([bad])).toEqual([`${path}: https://cdn.example.com/x.png`]);
  expect(findUnlinkedPages([...pages, bad])).toEqual([path]);
});

describe("the reference has", () => {
  test("every tag and operation of the API", () => {
    const { tags, paths } = JSON.parse(readText("gateway/openapi.json")) as {
      tags: { name: string }[];
      paths: Record<string, Record<string, unknown>>;
    };
    const page = readText("docs/reference/rest.md");
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `\`${method.toUpperCase()} ${path}\``),
    );
    const wanted = [...tags.map(({ name }) => `\n## ${name}\n`), ...operations];
    expect(wanted.filter((text) => !page.includes(text))).toEqual([]);
  });

  test("every event of every service", () => {
    const page = readText("docs/reference/events.md");
    const protos = readdirSync(join(ROOT, "proto/wonrail"))
      .map((name) => `proto/wonrail/${name}/events/v1/events.proto`)
      .filter((path) => existsSync(join(ROOT, path)));
    const messages = protos.flatMap((path) =>
      [...readText(path).matchAll(/^message (\w+) \{/gm)].map(([, name]) => name!),
    );
    expect(messages.length).toBeGreaterThan(10);
    const isListed = (name: string) =>
      new RegExp(`Message\\s\`${name}\``).test(page) || page.includes(`### ${name}\n`);
    expect(messages.filter((name) => !isListed(name))).toEqual([]);
  });

  test("every type of public events", () => {
    const page = readText("docs/guides/events.md");
    const source = readText("kit/src/contract/eventTypes.ts");
    const types = [...source.matchAll(/^ {2}"([a-z_.]+)",$/gm)].map(([, type]) => type!);
    expect(types).toContain("payment.created");
    expect(types.filter((type) => !page.includes(`\`${type}\``))).toEqual([]);
  });

  test("every metric", () => {
    const page = readText("docs/reference/metrics.md");
    expect(
      declaredMetrics()
        .map(({ name }) => name)
        .filter((name) => !page.includes(`| \`${name}\` |`)),
    ).toEqual([]);
  });

  test("every npm script and every operators' command", () => {
    const page = readText("docs/reference/cli.md");
    const { scripts } = JSON.parse(readText("package.json")) as { scripts: Record<string, string> };
    const commands = Object.keys(scripts).map((name) =>
      name === "test" || name === "start" ? `npm ${name}` : `npm run ${name}`,
    );
    const operators = OWNERS.flatMap(({ listCommands }) =>
      listCommands().flatMap((each) => findLeaves(each)),
    );
    const local = LOCAL_COMMANDS.map(({ name }) => name);
    const wanted = [...commands, ...operators.map(({ name }) => name), ...local];
    expect(wanted).toEqual(expect.arrayContaining(["npm run up", "key revoke", "rebuild", "drift ack"]));
    expect(wanted.filter((name) => !new RegExp(`\`${name}\\b`).test(page))).toEqual([]);
  });
});

test.each([
  ["events", "services/events", "docs/guides/events.md"],
  ["webhooks", "gateway/src/routes/webhooks.ts", "docs/guides/webhooks.md"],
  ["the sandbox", "gateway/src/routes/sandbox.ts", "docs/guides/sandbox.md"],
  ["the console", "console", "docs/operate/console.md"],
])("the guide to %s exists when its feature does", (_, feature, guide) => {
  expect(existsSync(join(ROOT, guide))).toBe(existsSync(join(ROOT, feature)));
});
