#!/usr/bin/env node
// What `npm run admin:payment --` and the payment image call; the commands themselves are in src/admin.ts.
import { runBuilt } from "@wonrail/kit/runBuilt";

await runBuilt(new URL("../dist/admin.js", import.meta.url));
