#!/usr/bin/env node
// Starts the commands of src/admin.ts. The script `npm run admin:payment` and the payment image call this file.
import { runBuilt } from "@wonrail/kit/runBuilt";

await runBuilt(new URL("../dist/admin.js", import.meta.url));
