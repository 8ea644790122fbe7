import { readText } from "../ops/repository";

/**
 * Renders helm/wonrail/README.md: the operator's steps, and every value with comment and default.
 */
export function renderChart(): string {
  const rows = readValues(readText("helm/wonrail/values.yaml"));
  return `<!-- Generated from helm/wonrail/values.yaml by npm run docs; do not edit. -->

# Values of the chart

\`services.<name>\` takes every name of \`defaults\`, for that service alone. It also takes \`digest\`,
the digest of its image (sha256:…), which wins over the tag, and \`image\`, a whole reference instead
of registry, repository, tag and digest. [Install](../operate/install.md) shows how to use the values.

## Values

| Value | Default | Meaning |
|---|---|---|
${rows.map(({ path, value, comment }) => `| \`${path}\` | \`${value}\` | ${escapeHtml(comment)} |`).join("\n")}
`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll(/https?:[^\s;,]+/g, "`$&`")
    .replaceAll("<", "&lt;")
    .replaceAll("{{", "&#123;&#123;");
}

interface Row {
  path: string;
  value: string;
  comment: string;
}

/**
 * Reads the file line by line: indentation is two, and a comment precedes its value. A value
 * without comment is an error.
 */
export function readValues(text: string): Row[] {
  const path: string[] = [];
  let comment = "";
  let list = Infinity;
  return text.split("\n").flatMap((line) => {
    // The lines of a list are one value, below the commented name.
    const indentation = line.search(/\S/);
    if (indentation > list) return [];
    list = line.startsWith("- ", indentation) ? indentation : Infinity;
    comment = /^ *# -- (.+)$/.exec(line)?.[1] ?? comment;
    const found = /^( *)([A-Za-z-]+):(?: (.+))?$/.exec(line);
    if (!found) return [];
    const [, indent, name, value] = found;
    path.splice(indent!.length / 2, path.length, name!);
    if (value === undefined && comment === "") return [];
    if (comment === "") throw new Error(`values.yaml: ${path.join(".")} has no comment`);
    const row = { path: path.join("."), value: value ?? "below", comment };
    comment = "";
    return [row];
  });
}
