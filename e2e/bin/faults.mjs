#!/usr/bin/env node
// npm run faults: more kills, outages and false answers than in `npm test`.
import { spawnSync } from "node:child_process";
import { exitOnFailure, prepare } from "../../deploy/local/bin/prepare.mjs";

exitOnFailure(prepare);
// The deep tests, and the tests that do more here than in `npm test`.
const patterns = [
  "\\.deep\\.test",
  "e2e/rolling",
  "e2e/money",
  "e2e/chain/crashes",
  "e2e/chain/faults",
  "payment/src/commands/crashes",
];
const jest = [
  "--no-install",
  "jest",
  "--selectProjects",
  "int",
  "e2e",
  "--runInBand",
  "--testPathPatterns",
  patterns.join("|"),
];
const env = { ...process.env, WONRAIL_DEEP: "true" };
process.exit(spawnSync("npx", jest, { stdio: "inherit", env }).status ?? 1);
