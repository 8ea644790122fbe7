#!/usr/bin/env node
// npm run faults: the reliability tests of `npm test` with more kills, outages and false answers.
import { spawnSync } from "node:child_process";
import { exitOnFailure, prepare } from "../../deploy/local/bin/prepare.mjs";

exitOnFailure(prepare);
const whole = [
  "e2e/stack\\.e2e",
  "e2e/home\\.e2e",
  "e2e/rolling",
  "e2e/exactlyOnce",
  "e2e/webhooks",
  "e2e/money\\.e2e",
  "e2e/chain/",
  "e2e/torture\\.",
  "e2e/restore/",
  "e2e/bus/",
  "e2e/postgres/",
];
const patterns = [...whole, "replicas", "Killed", "crashes", "[oO]utages", "slowNetwork", "fault"];
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
