#!/usr/bin/env node
// What an operator runs in the pod of the service whose events were put aside; see src/inbox/deadLettersCommand.ts.
import { runBuilt } from "./runBuilt.mjs";

await runBuilt(new URL("../dist/inbox/deadLettersCommand.js", import.meta.url));
