#!/usr/bin/env node
// npm run ledger:verify [-- --json]: checks every invariant of the ledger of a running stack, or of the database that DATABASE_URL names.
import { runBuilt } from "@wonrail/kit/runBuilt";

await runBuilt(new URL("../dist/admin.js", import.meta.url));
