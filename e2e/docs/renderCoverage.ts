import { errorTable } from "@wonrail/kit/contract/errors";
import { readText } from "../ops/repository";

const TABLE = "e2e/codes.e2e.test.ts";
/** Tests that provoke hundreds of money codes: invalid values and random sequences. */
const OTHERS = [
  "exactlyOnce.e2e.test.ts",
  "moneyOutages.deep.test.ts",
  "moneyOutages.e2e.test.ts",
  ...["foreignIds", "hostile", "hostilePathIds", "hostileRest", "model", "scenes", "sequences"].map(
    (name) => `money/${name}.ts`,
  ),
];

/**
 * Renders docs/coverage.md: each error code with the tests that get it through REST. A code without
 * a test fails the page.
 */
export function renderCoverage(): string {
  const table = readText(TABLE);
  const others = OTHERS.map((path) => ({ path, text: readText(`e2e/${path}`) }));
  const rows = Object.keys(errorTable).map((code) => {
    const never = new RegExp(`^  ${code}: \\{ never: "(.*)" \\}`, "m").exec(table)?.[1];
    const given = new RegExp(`^  ${code}: `, "m").test(table);
    if (!given) throw new Error(`${code} is in the table of errors, but no test of ${TABLE} has it answered`);
    const also = others.filter(({ text }) => text.includes(code)).map(({ path }) => path);
    return `| ${code} | ${never === undefined ? "yes" : `no: ${never}`} | ${also.join(", ")} |`;
  });
  return `<!-- Generated from the tests by npm run docs; do not edit. -->

# Error codes and their tests

\`${TABLE}\` makes a real stack answer each code through REST. A code without a case does not
compile. Every end-to-end test compares each answer with
[openapi.json](../../gateway/openapi.json): its status, its body and its code.

| Code | Answered through REST | Also in the money tests |
|---|---|---|
${rows.join("\n")}
`;
}
