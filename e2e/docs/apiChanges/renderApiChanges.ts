import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../ops/repository";
import { type ApiDocument, describeChanges } from "./describeChanges";
import { readReleases, type Release } from "./readReleases";

const PAGE = "docs/reference/api-changes.md";
const BEGIN = "<!-- Changes: generated from the releases in git by npm run docs; do not edit. -->\n";

/**
 * Renders the page of API changes from the tagged releases and the present document. Without git, or
 * in a clone that lacks a release of the page, the page stays as it is.
 */
export function renderApiChanges(root: string = ROOT): string {
  const page = readFileSync(join(root, PAGE), "utf8");
  const releases = readReleases(root);
  const listed = [...page.matchAll(/^## (v\S+)/gm)].map(([, tag]) => tag);
  if (!releases || !listed.every((tag) => releases.some((release) => release.tag === tag))) return page;
  const present = JSON.parse(readFileSync(join(root, "gateway/openapi.json"), "utf8")) as ApiDocument;
  const [introduction] = page.split(BEGIN);
  return `${introduction}${BEGIN}\n${sectionsOf(releases, present).join("\n\n")}\n`;
}

function sectionsOf(releases: Release[], present: ApiDocument): string[] {
  const [first] = releases;
  if (!first) return ["No release has been tagged yet, so there is no change to list."];
  const newestFirst = releases
    .map(({ tag, date, document }, index) =>
      index === 0
        ? section(`${tag} · ${date}`, "The first release.")
        : section(`${tag} · ${date}`, changesBetween(releases[index - 1]!.document, document)),
    )
    .reverse();
  const unreleased = section("Unreleased", changesBetween(releases.at(-1)!.document, present));
  return [unreleased, ...newestFirst];
}

function section(title: string, text: string): string {
  return `## ${title}\n\n${text}`;
}

function changesBetween(before: ApiDocument, after: ApiDocument): string {
  const changes = describeChanges(before, after);
  if (changes.length === 0) return "No change of the API.";
  return changes
    .map(({ place, sentences }) => `### ${place}\n\n${sentences.map((text) => `- ${text}`).join("\n")}`)
    .join("\n\n");
}
