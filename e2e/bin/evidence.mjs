#!/usr/bin/env node
// npm run evidence [-- --run --only fuzz,torture]
import { exitOnFailure, prepare } from "../../deploy/local/bin/prepare.mjs";

exitOnFailure(prepare);
const { main } = await import("../dist/evidence/main.js");
process.exit(await main());
