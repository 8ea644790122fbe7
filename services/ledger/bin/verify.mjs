#!/usr/bin/env node
// npm run ledger:verify [-- --json]: checks every invariant of the ledger of a running stack, or of the database that DATABASE_URL names.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const compiled = fileURLToPath(new URL("../dist/admin.js", import.meta.url));

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(78);
}

if (!existsSync(compiled)) fail("The ledger is not built yet: run npm run build.");
if (process.env.DATABASE_URL === undefined && process.env.DATABASE_URL_FILE === undefined) {
  const stackFile = join(process.env.WONRAIL_HOME ?? join(root, ".wonrail"), "stack.json");
  if (!existsSync(stackFile))
    fail(`No running stack is described in ${stackFile}. Start one with make up, or set DATABASE_URL.`);
  process.env.DATABASE_URL = JSON.parse(readFileSync(stackFile, "utf8")).postgres.urls.ledger;
}

const { main } = createRequire(import.meta.url)(compiled);
await main([process.argv[0], process.argv[1], "verify", ...process.argv.slice(2)]);
