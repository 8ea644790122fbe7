#!/usr/bin/env node
// Entry of `npm run admin:wallet --` and of the wallet image; the commands are in src/admin.ts.
import { runBuilt } from "@wonrail/kit/runBuilt";

await runBuilt(new URL("../dist/admin.js", import.meta.url));
