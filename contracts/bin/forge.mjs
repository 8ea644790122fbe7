#!/usr/bin/env node
// Runs forge for this workspace: node bin/forge.mjs test --match-test aBatch -vvv
import { forge } from "../tools/foundry.mjs";

process.exitCode = (await forge(process.argv.slice(2), { show: true })).code;
