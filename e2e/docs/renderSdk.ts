import { readText } from "../ops/repository";

/** Renders docs/guides/sdk.md: the README of the published library, with links of the site. */
export function renderSdk(): string {
  const readme = readText("sdk/README.md")
    .replace(
      "# @wonrail/sdk\n",
      "# The SDK\n\nGenerated from `sdk/README.md` by `npm run docs`; do not edit.\n",
    )
    .replaceAll("(./errors.md)", "(../reference/errors.md)")
    .replaceAll(/\(\.\/(api|CHANGELOG)\.md\)/g, "(../../sdk/$1.md)");
  return readme;
}
