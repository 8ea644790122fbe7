#!/usr/bin/env node
// npm test [-- --only unit,int] [PATTERN…]
import { runStages } from "./runStages.mjs";
import { STAGES } from "./stages.mjs";

process.exit(
  await runStages(
    STAGES.map(({ name }) => name),
    process.argv.slice(2),
  ),
);
