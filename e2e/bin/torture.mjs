#!/usr/bin/env node
// npm run torture [-- --seed N --ops N --faults N]
import { exitOnFailure, prepare } from "../../deploy/local/bin/prepare.mjs";

exitOnFailure(prepare);
const { main } = await import("../dist/torture/main.js");
process.exit(await main());
