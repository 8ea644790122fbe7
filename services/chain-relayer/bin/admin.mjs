#!/usr/bin/env node
// Starts the commands of src/admin.ts. `npm run admin:chain --` and the image call this file.
import { runBuilt } from "@wonrail/kit/runBuilt";

await runBuilt(new URL("../dist/admin.js", import.meta.url));
