#!/usr/bin/env node
// npm run check: the part of `npm test` that does no I/O.
import { runStages } from "./runStages.mjs";
import { FAST } from "./stages.mjs";

process.exit(await runStages(FAST, process.argv.slice(2)));
