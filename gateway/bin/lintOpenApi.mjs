// Holds gateway/openapi.json against Redocly's recommended rules. A warning is as bad as an error.
import { fileURLToPath } from "node:url";
import { createConfig, formatProblems, getTotals, lint } from "@redocly/openapi-core";

const config = await createConfig({
  extends: ["recommended"],
  rules: {
    // Literal paths precede parameters; openapi.test.ts checks the order.
    "no-ambiguous-paths": "off",
  },
});
const problems = await lint({ ref: fileURLToPath(new URL("../openapi.json", import.meta.url)), config });
const totals = getTotals(problems);
if (problems.length > 0) formatProblems(problems, { totals, version: "" });
process.exit(problems.length > 0 ? 1 : 0);
