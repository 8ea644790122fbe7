import { readdirSync } from "node:fs";
import { join } from "node:path";
import { errorTable } from "@wonrail/kit/errors";
import { readText, ROOT } from "../ops/repository";

const TABLE = "e2e/codes.e2e.test.ts";

/** docs/coverage.md: each error code with the tests that have it answered through REST. A code without one fails the page. */
export function renderCoverage(): string {
  const table = readText(TABLE);
  const others = endToEndTests().map((path) => ({ path, text: readText(path) }));
  const rows = Object.keys(errorTable).map((code) => {
    const never = new RegExp(`^  ${code}: \\{ never: "(.*)" \\}`, "m").exec(table)?.[1];
    const given = new RegExp(`^  ${code}: `, "m").test(table);
    if (!given) throw new Error(`${code} is in the table of errors, but no test of ${TABLE} has it answered`);
    const also = others
      .filter(({ text }) => text.includes(code))
      .map(({ path }) => path.slice("e2e/".length));
    return `| ${code} | ${never === undefined ? "yes" : `no: ${never}`} | ${also.join(", ")} |`;
  });
  return `# Error codes and their tests

Generated from the tests by \`npm run docs\`; do not edit.

\`${TABLE}\` has a real stack give each code through REST; a code that is missing there does not compile, and makes this page fail. Every answer of every end-to-end
test is held against [openapi.json](../gateway/openapi.json): its status, its body, and that its operation is documented to answer with that code.

| Code | Given through REST | Expected by name elsewhere in e2e |
|---|---|---|
${rows.join("\n")}
`;
}

function endToEndTests(): string[] {
  return ["e2e", "e2e/money"]
    .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`))
    .filter(
      (path) => (path.endsWith(".e2e.test.ts") || path.startsWith("e2e/money/")) && path.endsWith(".ts"),
    )
    .filter((path) => path !== TABLE)
    .sort();
}
