#!/usr/bin/env node
// npm run ledger:verify [-- --json]: checks every invariant of the ledger of a running stack, or of the database that DATABASE_URL names.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const compiled = fileURLToPath(new URL("../dist/admin.js", import.meta.url));

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(78);
}

if (!existsSync(compiled)) fail("The ledger is not built yet: run npm run build.");
if (process.env.DATABASE_URL === undefined && process.env.DATABASE_URL_FILE === undefined) {
  const { localHome, readLocalStack, stackFileIn } = require("@wonrail/kit/localStack");
  const home = localHome(process.env.WONRAIL_HOME);
  const url = readLocalStack(home)?.postgres?.urls?.ledger;
  if (url === undefined)
    fail(
      `No running stack is described in ${stackFileIn(home)}. Start one with make up, or set DATABASE_URL.`,
    );
  process.env.DATABASE_URL = url;
}

const { main } = require(compiled);
await main([process.argv[0], process.argv[1], "verify", ...process.argv.slice(2)]);
