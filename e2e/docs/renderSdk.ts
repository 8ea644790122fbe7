import { readText } from "../ops/repository";

/** Renders docs/guides/sdk.md: the README of the published library, with links of the site. */
export function renderSdk(): string {
  const note = "<!-- Generated from sdk/README.md by npm run docs; do not edit. -->";
  return readText("sdk/README.md")
    .replace("# @wonrail/sdk\n", `${note}\n\n# The SDK\n`)
    .replaceAll("(./errors.md)", "(../reference/errors.md)")
    .replaceAll(/\(\.\/(api|CHANGELOG)\.md\)/g, "(../../sdk/$1.md)");
}
