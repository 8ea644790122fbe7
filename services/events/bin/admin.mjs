#!/usr/bin/env node
// Entry of the events service's commands in its image. On a local stack `npx wonrail` runs them too.
import { runBuilt } from "@wonrail/kit/runBuilt";

await runBuilt(new URL("../dist/admin.js", import.meta.url));
