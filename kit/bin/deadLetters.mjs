#!/usr/bin/env node
// What an operator runs in the pod of the service whose events were put aside; see src/inbox/deadLettersCommand.ts.
import { createRequire } from "node:module";

const { main } = createRequire(import.meta.url)("../dist/inbox/deadLettersCommand.js");
process.exitCode = await main(process.argv.slice(2));
