#!/usr/bin/env node
// Entry of `npm run admin --` and of the auth image; the commands are in src/admin.ts.
import { runBuilt } from "@wonrail/kit/runBuilt";

await runBuilt(new URL("../dist/admin.js", import.meta.url));
